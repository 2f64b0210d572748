"""What a reader does with a listing, as scripts for a page that has the probe of `tests.bench.probe` in it."""

OPEN = """() => bench.measure(async () => {
  const start = performance.now();
  bench.root().querySelector('[role=tab][data-key=hlo]').click();
  return await bench.until(() => bench.readable('hlo')) - start;
})"""

SCROLL = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let step = 0; step < 200; step += 1) {
    scroller.scrollTop += 1.5 * scroller.clientHeight;
    await bench.frame();
  }
})"""

JUMP = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (const share of [0, 0.5, 1, 0.13, 0.77, 0.01, 0.999, 0.3]) {
    scroller.scrollTop = scroller.scrollHeight * share;
    await bench.frame();
  }
  const box = bench.pane().querySelector('.ruler').getBoundingClientRect();
  for (const share of [0.2, 0.9, 0.4]) {
    const clientY = box.top + share * box.height;
    const click = new MouseEvent('click', { bubbles: true, composed: true, clientY });
    bench.pane().querySelector('.ruler').dispatchEvent(click);
    await bench.frame();
  }
})"""

SIDEWAYS = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let step = 0; step < 60; step += 1) {
    scroller.scrollLeft = (scroller.scrollWidth * step) / 60;
    await bench.frame();
  }
  scroller.scrollLeft = 0;
})"""

FOLD = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let times = 0; times < 6; times += 1) {
    scroller.scrollTop = scroller.scrollHeight * 0.1 * times;
    await bench.frame(); await bench.frame();
    bench.pane().querySelector('button.fold')?.click();
    await bench.frame();
  }
})"""

SCROLL_WINDOW = """() => bench.measure(async () => {
  for (let step = 0; step < 100; step += 1) {
    scrollTo(0, document.documentElement.scrollHeight * (step / 100));
    await bench.frame();
  }
})"""

# Each hover goes to another row of one side, and counts until the highlight is laid out; JavaScript alone is counted
# beside it, and the lines that it links.
HOVER = """async ({ count, side }) => {
  const scroller = bench.pane(side).querySelector('.scroller');
  const times = [], scripts = [];
  for (let done = 0; done < count; ) {
    scroller.scrollTop = scroller.scrollHeight * (done / count);
    await bench.frame(); await bench.frame();
    for (const row of [...bench.pane(side).querySelectorAll('.row')].slice(8, 18)) {
      if (!row.isConnected) continue;
      const start = performance.now();
      row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, composed: true }));
      scripts.push(performance.now() - start);
      void bench.root().querySelector('.app').getBoundingClientRect().height;
      const lit = bench.root().querySelectorAll('.row.exact, .row.related');
      for (const each of lit) void getComputedStyle(each).backgroundColor;
      times.push(performance.now() - start);
      await bench.frame();
      done += 1;
    }
  }
  times.sort((a, b) => a - b);
  scripts.sort((a, b) => a - b);
  const share = Math.floor(times.length * 0.95);
  return { p95: times[share], worst: times[times.length - 1], script: scripts[share], count: times.length };
}"""

# The menu of a pane is worked by its keys, as it says itself.
FOLD_ALL = """() => bench.measure(async () => {
  for (const name of ['a', 'u', '1', '2', 'u']) await bench.menu('z ' + name);
})"""

FOLD_BUT_LINKED = """() => bench.measure(async () => {
  const rows = [...bench.pane('left').querySelectorAll('.row')].filter((row) => row.innerText.includes('return'));
  for (const row of rows.slice(0, 3)) {
    row.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true }));
    await bench.frame();
    await bench.menu('z k');
  }
  await bench.menu('z u');
  bench.key(bench.scroller(), 'Escape');
  await bench.frame();
})"""

# Typed letter by letter, then searched to the end; the result is the number of matches.
SEARCH = """({ query, regex }) => bench.measure(async () => {
  const bar = () => bench.pane().querySelector('.bar');
  if (bar().hidden) bench.key(bench.scroller(), '/');
  const field = bar().querySelector('.query'), toggle = bench.toggle('Alt+R');
  if ((toggle.getAttribute('aria-pressed') === 'true') !== regex) toggle.click();
  for (let length = 1; length <= query.length; length += 1) {
    field.value = query.slice(0, length);
    field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
    await new Promise((done) => setTimeout(done, 90));
  }
  await bench.until(() => bar().querySelector('.count').getAttribute('aria-busy') !== 'true');
  return bar().querySelector('.count').textContent;
})"""

ONLY_MATCHES = """() => bench.measure(async () => {
  const toggle = bench.toggle('Alt+O');
  for (let times = 0; times < 4; times += 1) {
    toggle.click();
    await bench.frame(); await bench.frame();
    if ((toggle.getAttribute('aria-pressed') === 'true') !== (times % 2 === 0)) throw new Error('not pressed');
  }
})"""

CLOSE_SEARCH = """() => bench.measure(async () => {
  bench.key(bench.pane().querySelector('.query'), 'Escape');
  await bench.frame();
})"""

# Presses keys of switches, and lets the listing be drawn anew after each.
TURN = """(keys) => bench.measure(async () => {
  for (const name of keys) {
    bench.key(bench.scroller(), name);
    await bench.frame(); await bench.frame();
  }
})"""

# Those not opened before, and then those that are there already.
SWITCH_TABS = """() => bench.measure(async () => {
  for (const key of ['jaxpr', 'stablehlo', 'hlo', 'stablehlo', 'jaxpr', 'python', 'hlo']) {
    bench.root().querySelector(`[role=tab][data-key=${key}]`).click();
    await bench.until(() => bench.readable(key));
  }
})"""

# The report of memory: from the click on its tab until the rows of the peak are those of the columns.
OPEN_MEMORY = """() => bench.measure(async () => {
  bench.root().querySelector('[role=tab][data-key=memory]').click();
  await bench.until(() => bench.root().querySelector('table.live tbody td'));
})"""

# The result is the 95th of the times from a move to the laid-out rows.
MOVE_OVER_CURVE = """() => bench.measure(async () => {
  const area = bench.root().querySelector('[role=slider]');
  const box = area.getBoundingClientRect(), times = [];
  for (let step = 0; step < 300; step += 1) {
    const clientX = box.left + (box.width * ((step * 37) % 300)) / 300;
    const start = performance.now();
    area.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, composed: true, clientX }));
    void bench.root().querySelector('.app').getBoundingClientRect().height;
    times.push(performance.now() - start);
    await bench.frame();
  }
  area.dispatchEvent(new PointerEvent('pointerleave'));
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];
})"""

MOVE_BY_KEYS = """() => bench.measure(async () => {
  const area = bench.root().querySelector('[role=slider]');
  for (const name of ['Home', ...Array(60).fill('PageUp'), ...Array(60).fill('ArrowLeft'), 'End', 'p']) {
    bench.key(area, name);
    await bench.frame();
  }
})"""

SCROLL_ALIVE = """() => bench.measure(async () => {
  const scroller = bench.root().querySelector('table.live').parentElement;
  for (let step = 0; step <= 200; step += 1) {
    scroller.scrollTop = (scroller.scrollHeight * ((step * 61) % 200)) / 200;
    await bench.frame();
  }
})"""

OTHER_REPORT = """() => bench.measure(async () => {
  for (const key of ['cost', 'memory', 'cost', 'memory']) {
    bench.root().querySelector(`[role=tab][data-key=${key}]`).click();
    await bench.until(() => bench.root().querySelector(key === 'memory' ? 'table.live tbody td' : '.point'));
  }
})"""
