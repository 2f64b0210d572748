/**
 * Where the screen gets its facts: a live or saved notebook widget, or the payloads of an exported page. The rest of the
 * program sees only `Source`.
 *
 * @typedef {import("./schema").View} View
 * @typedef {import("./transfer.js").ListingData} ListingData
 * @typedef {{listing: string, line: number}} Pin
 * @typedef {{target: string, tab: string, left: string, right: string, pins: Pin[]}} Selection
 *
 * @typedef {(words: string, isRefusal: boolean) => void} OnAnswer
 *
 * @typedef {object} Source
 * @property {View} view
 * @property {(key: string) => Promise<ListingData>} listing rejects with a reason for people
 * @property {(key: string) => string} [absence] why a saved notebook does not hold a listing, "" where it does
 * @property {(target: string, onRefused: (reason: string) => void) => void} [compile] asks the kernel for another target
 * @property {(tab: string, table: string, onRefused: (reason: string) => void) => void} [make] asks the kernel for what a card lacks
 * @property {(tab: string, text: string | null, onAnswer: OnAnswer) => void} [check] asks the kernel to judge a call; for no text, only whether it is there
 * @property {(callback: () => void, signal: AbortSignal) => void} onChange the view or the selection has changed elsewhere
 * @property {Promise<void>} [near] resolves when the view is about to be looked at; a listing is not decoded before
 * @property {boolean} [fillsWindow] whether it is a page of its own
 * @property {() => Partial<Selection>} get
 * @property {(selection: Selection) => void} set
 */
import { on } from "./dom.js";
import { Assembly, Pacer, decodeListing, inflate, join } from "./transfer.js";

const SAVE_DELAY_MS = 250;

/** @typedef {{on: Function, off: Function, get: Function, set: Function, save_changes: Function, send: Function}} Model */
/**
 * @typedef {object} Request
 * @property {Promise<ListingData>} promise
 * @property {(data: ListingData) => void} resolve
 * @property {(reason: Error) => void} reject
 * @property {Assembly} assembly
 * @property {boolean} retried
 */

/**
 * @param {Model} model anywidget's
 * @param {AbortSignal} signal
 * @param {Promise<void>} [near] see `Source`
 * @returns {Source}
 */
export function widgetSource(model, signal, near = Promise.resolve()) {
  const pacer = new Pacer();
  /** @type {Map<string, Request>} the first is being sent, the others wait their turn */
  const requests = new Map();
  /** @type {Map<string, OnAnswer>} who is told, by what was asked for */
  const askers = new Map();
  /** @type {Set<ReturnType<typeof setTimeout>>} */
  const timers = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let saveTimer;
  /** @type {Selection | null} */
  let chosen = null;

  /** @param {string} event @param {Function} callback @param {AbortSignal} until */
  function listen(event, callback, until) {
    model.on(event, callback);
    until.addEventListener("abort", () => model.off(event, callback), { once: true, signal });
    signal.addEventListener("abort", () => model.off(event, callback), { once: true, signal: until });
  }

  /** @param {() => void} action @param {number} delayMs */
  function later(action, delayMs) {
    const timer = setTimeout(() => {
      timers.delete(timer);
      action();
    }, delayMs);
    timers.add(timer);
    return timer;
  }

  /** @param {string} key */
  function ask(key) {
    model.send({ type: "listing", key });
  }

  /** @param {string} key @param {Request} request */
  function begin(key, request) {
    requests.set(key, request);
    if (requests.size === 1) ask(key);
  }

  /** @param {string} key */
  function finish(key) {
    requests.delete(key);
    const [next] = requests.keys();
    if (next !== undefined) ask(next);
  }

  /** @param {string} key */
  function embedded(key) {
    const listing = model.get("listings")?.[key];
    if (listing?.index && listing?.text) return decode([listing.index], [listing.text]);
    const names = model.get("stored")?.[key];
    if (!names?.index?.length || !names?.text?.length) return null;
    const [index, text] = [names.index, names.text].map((traits) => traits.map((/** @type {string} */ trait) => model.get(trait)));
    return [...index, ...text].every((part) => part?.byteLength) ? decode(index, text) : null;
  }

  /** Twenty widgets in a notebook would else take what twenty listings take, to show one. @param {ArrayBufferView[]} index @param {ArrayBufferView[]} text */
  async function decode(index, text) {
    await near;
    return decodeListing(join(index), join(text));
  }

  /** @param {any} message @param {ArrayBufferView[]} buffers */
  function receive(message, buffers) {
    if (message?.request) askers.get(message.request)?.(String(message.reason ?? message.verdict), message.type === "refused");
    const request = requests.get(message?.key);
    if (!request) return;
    if (message.type === "failed") {
      request.reject(new Error(String(message.reason)));
      finish(message.key);
      return;
    }
    // What is saved with the notebook came just before, as a part of the model's state.
    const data = buffers?.[0] ?? (message.trait && model.get(message.trait));
    if (message.type === "part" && data) {
      const next = request.assembly.add(message, data);
      const waitMs = pacer.spend(data.byteLength);
      if (next) later(() => model.send({ type: "next", key: message.key, ...next }), waitMs);
      else if (request.assembly.done) {
        const { index, text } = request.assembly.parts;
        // The next one need not wait until this one is looked at.
        finish(message.key);
        decode(index, text).then(request.resolve, (error) => {
          // The listing was made anew while it was being sent: its parts do not fit together.
          if (request.retried) request.reject(error instanceof Error ? error : new Error(String(error)));
          else {
            request.assembly = new Assembly();
            request.retried = true;
            begin(message.key, request);
          }
        });
      }
    }
  }

  listen("msg:custom", receive, signal);
  listen(
    "change:listings",
    () => {
      for (const [key, request] of requests) {
        const data = embedded(key);
        if (data) {
          data.then(request.resolve, request.reject);
          finish(key);
        }
      }
    },
    signal,
  );
  on(
    signal,
    "abort",
    () => {
      clearTimeout(saveTimer);
      for (const timer of timers) clearTimeout(timer);
      requests.clear();
    },
  );

  return {
    get view() {
      return model.get("view");
    },
    listing(key) {
      const data = embedded(key);
      if (data) return data;
      const earlier = requests.get(key);
      if (earlier) return earlier.promise;
      /** @type {any} */
      const request = { assembly: new Assembly(), retried: false };
      request.promise = new Promise((resolve, reject) => Object.assign(request, { resolve, reject }));
      begin(key, request);
      return request.promise;
    },
    compile(target, onRefused) {
      askers.set(target, onRefused);
      model.send({ type: "compile", target });
    },
    make(tab, table, onRefused) {
      askers.set(`${tab} ${table}`, onRefused);
      model.send({ type: "make", tab, table });
    },
    check(tab, text, onAnswer) {
      askers.set(`check ${tab}`, onAnswer);
      try {
        model.send({ type: "check", tab, text });
      } catch {
        // Jupyter refuses to send once the kernel is gone; whoever only asked whether it is there has the answer.
        if (text !== null) onAnswer("There is no kernel to ask any more. Run the cell again.", true);
      }
    },
    near,
    absence: (key) => String(model.get("left_out")?.[key] ?? ""),
    onChange(callback, until) {
      listen("change:view", callback, until);
      listen("change:selection", callback, until);
    },
    // Until it is saved, a choice is not in the model, and a view that changes meanwhile must not undo it.
    get: () => chosen ?? model.get("selection") ?? {},
    set(selection) {
      clearTimeout(saveTimer);
      chosen = selection;
      saveTimer = setTimeout(() => {
        chosen = null;
        model.set("selection", selection);
        model.save_changes();
      }, SAVE_DELAY_MS);
    },
  };
}

/**
 * @param {Document} page an exported page
 * @returns {Promise<Source>}
 */
export async function pageSource(page) {
  /** @param {string} id */
  const payload = (id) => {
    const element = page.getElementById(id);
    return element?.textContent?.trim() ?? null;
  };
  const head = payload("jaxscope-view");
  if (!head) throw new Error("The page holds no view.");
  /** @type {{view: View, left_out: Record<string, string>, keys: string[]}} */
  const { view, left_out: leftOut, keys } = JSON.parse(await inflate(head));
  /** @type {Partial<Selection>} */
  let selection = {};
  return {
    view,
    fillsWindow: true,
    async listing(key) {
      const number = keys.indexOf(key);
      const index = payload(`jaxscope-${number}-index`);
      const text = payload(`jaxscope-${number}-text`);
      if (!index || !text) throw new Error(leftOut[key] ?? "The page does not hold this listing.");
      return await decodeListing(index, text);
    },
    onChange() {},
    get: () => selection,
    set(value) {
      selection = value;
    },
  };
}
