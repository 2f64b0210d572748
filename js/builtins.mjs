/**
 * The browser's own names that the sources use most, under names that esbuild may shorten: `inject` puts these where a
 * module says `Math.max`. Calls that need their object keep it.
 */
const { abs, ceil, floor, max, min, round } = Math;
const { assign, entries, fromEntries } = Object;
const { stringify, parse } = JSON;
const { document: page, clearTimeout: stop, setTimeout: wait } = globalThis;
const { Number: Figure, String: Text, Int32Array: Integers, Uint8Array: Bytes, WeakMap: Notes, ResizeObserver: Sizes } = globalThis;
const now = () => performance.now();

export { abs as "Math.abs", ceil as "Math.ceil", floor as "Math.floor", max as "Math.max", min as "Math.min", round as "Math.round" };
export { assign as "Object.assign", entries as "Object.entries", fromEntries as "Object.fromEntries" };
export { stringify as "JSON.stringify", parse as "JSON.parse", now as "performance.now" };
export { page as document, stop as clearTimeout, wait as setTimeout };
export { Figure as Number, Text as String, Integers as Int32Array, Bytes as Uint8Array, Notes as WeakMap, Sizes as ResizeObserver };
