'use strict';
(async () => {
const $ = id => document.getElementById(id);
const embedded = $('data');
const data = embedded ? JSON.parse(embedded.textContent) : await (await fetch('data.json')).json();
const served = !embedded, N = data.rows, K = data.images.length;
const columns = data.columns, byName = new Map(columns.map(c => [c.name, c]));
const texts = columns.filter(c => c.codes), numbers = columns.filter(c => c.numbers);
const lists = texts.filter(c => c.values.length > 1 && c.values.length <= Math.min(300, Math.max(12, N / 2)) && c.name !== 'id'); // with a check list
const cell = (c, row) => c.codes ? c.values[c.codes[row]] || '' :
  c.numbers[row] === null ? '' : String(Number.isInteger(c.numbers[row]) ? c.numbers[row] : +c.numbers[row].toPrecision(5));
const id = row => byName.has('id') ? cell(byName.get('id'), row) : String(row + 1);
const make = (name, props, ...children) => {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
};
const say = text => { $('message').textContent = text; clearTimeout(say.timer); say.timer = setTimeout(() => { $('message').textContent = ''; }, 6000); };

// State: what differs from these defaults is in the address.
const first = ['id', 'prompt', 'caption', ...data.columns.map(c => c.name)].filter(n => byName.has(n));
const defaults = { q: '', lists: {}, ranges: {}, sort: '', down: false, group: '', size: 160, captions: [...new Set(first)].slice(0, 2),
  part: 'whole', row: null, plot: false, x: '', y: '', color: '', lasso: null };
let state;
function load() {
  let own = {};
  try { own = JSON.parse(decodeURIComponent(location.hash.slice(1)) || '{}'); } catch { say('The address is damaged; all filters are cleared.'); }
  state = { ...structuredClone(defaults), ...own };
}
function store(replace) {
  const own = {};
  for (const k of Object.keys(defaults)) if (JSON.stringify(state[k]) !== JSON.stringify(defaults[k])) own[k] = state[k];
  const hash = Object.keys(own).length ? '#' + encodeURIComponent(JSON.stringify(own)) : '#';
  if (hash !== (location.hash || '#')) history[replace ? 'replaceState' : 'pushState'](null, '', hash);
}
function change(part, replace) { Object.assign(state, part); store(replace); update(); }

// Tags and selection.
const tags = new Map(); // row → set of tags
const rowOf = new Map(); for (let r = 0; r < N; r++) rowOf.set(id(r), r);
for (const t of data.tagged || []) if (rowOf.has(t.id)) tagsOf(rowOf.get(t.id)).add(t.tag);
function tagsOf(row) { if (!tags.has(row)) tags.set(row, new Set()); return tags.get(row); }
let selected = new Set();
const undo = [];
async function tag(rows, name, on) {
  const answer = await fetch('tags', { method: 'POST', body: JSON.stringify({ rows, tag: name, on }) }).catch(e => ({ ok: false, text: () => String(e) }));
  if (!answer.ok) { say(await answer.text()); return false; }
  for (const r of rows) tagsOf(r)[on ? 'add' : 'delete'](name);
  update();
  return true;
}
async function toggle(name) {
  const rows = selected.size ? [...selected] : focus >= 0 ? [order[focus]] : [];
  if (!rows.length) return say('Select images first.');
  const on = !rows.every(r => tagsOf(r).has(name)), changed = rows.filter(r => tagsOf(r).has(name) !== on);
  if (await tag(changed, name, on)) { undo.push([changed, name, !on]); say(`${on ? 'Tagged' : 'Untagged'} ${changed.length}: ${name}`); }
}

async function toggleShown(name) {
  const r = state.row, on = !tagsOf(r).has(name);
  if (await tag([r], name, on)) { undo.push([[r], name, !on]); facts(r); }
}
const mark = name => $('detail').open ? toggleShown(name) : toggle(name);
async function takeBack() {
  if (!undo.length) return;
  const [rows, name, on] = undo.pop();
  if (await tag(rows, name, on)) say(`Undone: ${name}`);
}
for (const where of data.tags && data.tags.length ? ['tagging', 'tagone'] : []) {
  const list = [...data.tags.map((name, i) => [`${i + 1} ${name}`, () => mark(name)]), ['u undo', takeBack]];
  $(where).append('Tags: ', ...list.map(([textContent, act]) => make('button', { type: 'button', textContent, onclick: event => {
    act();
    if (event.detail && focus >= 0 && !$('detail').open) go(focus); // arrow keys go on after a click
  } })));
  $(where).hidden = false;
}

// Filters: fails counts those that a row fails, so that a column's counts follow the other filters.
const fold = s => s.normalize('NFKC').toLowerCase();
let haystack = null;
function search(row) {
  haystack ||= Array.from({ length: N }, (_, r) => fold(texts.map(c => cell(c, r)).join('\n')));
  return haystack[row];
}
function inside([px, py], polygon) {
  let odd = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if ((yi > py) !== (yj > py) && px < (xj - xi) * (py - yi) / (yj - yi) + xi) odd = !odd;
  }
  return odd;
}
let fails, failed, order = [], lines = [], focus = -1;
function filter() {
  fails = new Uint8Array(N); failed = new Map();
  const apply = (name, bad) => {
    const own = new Uint8Array(N);
    for (let r = 0; r < N; r++) if (bad(r)) { own[r] = 1; fails[r]++; }
    failed.set(name, own);
  };
  const q = fold(state.q.trim());
  if (q) { const words = q.split(/\s+/); apply('', r => !words.every(w => search(r).includes(w))); }
  for (const [name, values] of Object.entries(state.lists)) {
    const c = byName.get(name); if (!c || !c.codes) continue;
    const keep = new Set(values.map(v => c.values.indexOf(v)));
    apply(name, r => !keep.has(c.codes[r]));
  }
  for (const [name, [low, high]] of Object.entries(state.ranges)) {
    const c = byName.get(name); if (!c || !c.numbers) continue;
    apply(name, r => c.numbers[r] === null || c.numbers[r] < low || c.numbers[r] > high);
  }
  const x = byName.get(state.x), y = byName.get(state.y);
  if (state.lasso && x && y) apply('\n', r => x.numbers[r] === null || y.numbers[r] === null || !inside([x.numbers[r], y.numbers[r]], state.lasso));
}
const passes = (row, name) => fails[row] === 0 || fails[row] === 1 && failed.has(name) && failed.get(name)[row] === 1;
function arrange() {
  const rows = []; for (let r = 0; r < N; r++) if (!fails[r]) rows.push(r);
  const c = byName.get(state.sort), sign = state.down ? -1 : 1;
  if (c) {
    const collator = new Intl.Collator(undefined, { numeric: true });
    const rank = c.codes && new Map(c.values.map((v, i) => [v, i]).sort((a, b) => collator.compare(a[0], b[0])).map(([, i], k) => [i, k]));
    const key = c.codes ? r => rank.get(c.codes[r]) : r => c.numbers[r];
    rows.sort((a, b) => { // rows without a number come last
      const p = key(a), q = key(b);
      return p === null || q === null ? (p === null) - (q === null) || a - b : sign * (p - q) || a - b;
    });
  } else if (state.down) rows.reverse();
  const g = byName.get(state.group);
  if (!g) return [[null, rows]];
  const parts = new Map();
  for (const r of rows) { const v = cell(g, r); if (!parts.has(v)) parts.set(v, []); parts.get(v).push(r); }
  return [...parts].sort((a, b) => new Intl.Collator(undefined, { numeric: true }).compare(a[0], b[0]));
}

// Grid: lines of tiles and headings; only those in view are elements.
const grid = $('grid'), space = $('space'), shown = new Map();
let perLine = 1, tileWidth = 1, tileHeight = 1;
function layout() {
  const labels = state.captions.length + (data.tags && data.tags.length ? 1 : 0);
  tileWidth = state.size * K + 12; tileHeight = state.size + 14 + 16 * labels;
  perLine = Math.max(1, Math.floor((grid.clientWidth - 8) / tileWidth));
  const row = order[focus];
  lines = []; order = [];
  let top = 4;
  for (const [name, rows] of arrange()) {
    if (name !== null) { lines.push({ top, height: 32, heading: `${state.group}: ${name || '(empty)'} · ${rows.length}` }); top += 32; }
    for (let i = 0; i < rows.length; i += perLine) {
      lines.push({ top, height: tileHeight, rows: rows.slice(i, i + perLine), at: order.length });
      for (const r of rows.slice(i, i + perLine)) order.push(r);
      top += tileHeight;
    }
  }
  focus = focus < 0 ? -1 : order.indexOf(row); // its place may be another one now
  space.style.height = top + 'px';
  for (const [, e] of shown) e.forEach(x => x.remove());
  shown.clear();
  paint();
}
function thumb(row, k, side, part) {
  const text = served ? `thumb/${row}/${k}?side=${side}${part && part !== 'whole' && !k ? '&part=' + part : ''}` : data.thumbs[k][row];
  return text;
}
function pictures(row, side, part) {
  const out = [];
  for (let k = 0; k < K; k++) {
    if (data.missing[row] || !served && !data.thumbs[k][row]) continue;
    const img = make('img', { alt: '', loading: 'lazy', decoding: 'async', src: thumb(row, k, side, part) });
    img.onerror = async () => {
      let why = 'the image cannot be read';
      if (served) { const a = await fetch(img.src).catch(() => null); if (a && !a.ok) why = (await a.text()).trim(); }
      img.replaceWith(make('div', { className: 'missing', textContent: why }));
    };
    out.push(img);
  }
  return out.length ? out : [make('div', { className: 'missing', textContent: data.missing[row] || 'no image' })];
}
function tile(row, place) {
  const e = make('div', { className: 'tile', tabIndex: -1, id: 'tile-' + place });
  e.setAttribute('role', 'option');
  e.setAttribute('aria-selected', selected.has(row));
  if (!state.captions.length) e.setAttribute('aria-label', id(row)); // else its texts name it
  e.style.width = tileWidth - 4 + 'px'; e.style.height = tileHeight - 4 + 'px';
  const picture = make('div', { className: 'picture' }, ...pictures(row, Math.ceil(state.size * Math.min(2, devicePixelRatio) / 64) * 64, state.part));
  picture.style.height = state.size + 'px';
  e.append(picture);
  for (const name of state.captions) {
    const c = byName.get(name); if (!c) continue;
    const text = cell(c, row);
    e.append(make('div', { className: 'caption', dir: 'auto', textContent: c.codes ? text : `${name} ${text || '–'}`, title: `${name}: ${text}` }));
  }
  if (data.tags && data.tags.length) e.append(make('div', { className: 'caption tags', textContent: [...tagsOf(row)].join(', ') }));
  e.onclick = event => {
    if (event.shiftKey && focus >= 0) { for (let i = Math.min(focus, place); i <= Math.max(focus, place); i++) selected.add(order[i]); }
    else if (event.ctrlKey || event.metaKey) selected.has(row) ? selected.delete(row) : selected.add(row);
    else { focus = place; return open(row); }
    focus = place; marks();
  };
  return e;
}
function paint() {
  const from = grid.scrollTop - 300, to = grid.scrollTop + grid.clientHeight + 300;
  let low = 0, high = lines.length;
  while (low < high) { const mid = (low + high) >> 1; lines[mid].top + lines[mid].height < from ? low = mid + 1 : high = mid; }
  const keep = new Set();
  for (let i = low; i < lines.length && lines[i].top < to; i++) {
    keep.add(i);
    if (shown.has(i)) continue;
    const l = lines[i];
    const made = l.heading !== undefined ? [make('div', { className: 'heading', textContent: l.heading, role: 'option', ariaDisabled: true })] : l.rows.map((r, k) => tile(r, l.at + k));
    made.forEach((e, k) => { e.style.top = l.top + 'px'; if (l.rows) e.style.left = 4 + k * tileWidth + 'px'; });
    space.append(...made);
    shown.set(i, made);
  }
  for (const [i, made] of shown) if (!keep.has(i)) { made.forEach(e => e.remove()); shown.delete(i); }
  marks();
}
function marks() {
  for (const [i, made] of shown) if (lines[i] && lines[i].rows) made.forEach((e, k) => e.setAttribute('aria-selected', selected.has(lines[i].rows[k])));
  if (focus >= 0) grid.setAttribute('aria-activedescendant', 'tile-' + focus);
  count();
}
function count() {
  const tagged = [...tags.values()].filter(t => t.size).length;
  $('count').textContent = `${order.length === N ? '' : order.length + ' of '}${N} rows${selected.size ? `, ${selected.size} selected` : ''}${tagged ? `, ${tagged} tagged` : ''}`;
}
grid.addEventListener('scroll', () => requestAnimationFrame(paint), { passive: true });
new ResizeObserver(() => layout()).observe(grid);
function go(place) {
  if (!order.length) return;
  focus = Math.max(0, Math.min(order.length - 1, place));
  const l = lines.find(l => l.rows && focus < l.at + l.rows.length);
  if (l.top < grid.scrollTop) grid.scrollTop = l.top;
  if (l.top + l.height > grid.scrollTop + grid.clientHeight) grid.scrollTop = l.top + l.height - grid.clientHeight;
  paint();
  const e = $('tile-' + focus); if (e) e.focus({ preventScroll: true });
}
grid.addEventListener('keydown', event => {
  const moves = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perLine, ArrowUp: -perLine, PageDown: perLine * 4, PageUp: -perLine * 4 };
  if (event.key in moves) go(focus < 0 ? 0 : focus + moves[event.key]);
  else if (event.key === 'Home') go(0);
  else if (event.key === 'End') go(order.length - 1);
  else if (event.key === 'Enter' && focus >= 0) open(order[focus]);
  else if (event.key === ' ' && focus >= 0) { const r = order[focus]; selected.has(r) ? selected.delete(r) : selected.add(r); marks(); }
  else if (event.key === 'a' && (event.ctrlKey || event.metaKey)) { selected = new Set(order); marks(); }
  else if (event.key === 'Escape') { selected.clear(); marks(); }
  else return;
  event.preventDefault();
});
document.addEventListener('keydown', event => {
  if (event.target.matches('input, select, textarea') || event.ctrlKey || event.metaKey || event.altKey || !data.tags) return;
  if (/^[1-9]$/.test(event.key) && data.tags[event.key - 1]) mark(data.tags[event.key - 1]);
  else if (event.key === 'u') takeBack();
});

// Filters at the side.
function facets() {
  const scroll = $('facets').scrollTop, at = document.activeElement && document.activeElement.dataset.key;
  $('facets').replaceChildren(...lists.map(checklist), ...numbers.map(histogram).filter(e => e));
  $('facets').scrollTop = scroll;
  if (at) for (const e of $('facets').querySelectorAll('[data-key]')) if (e.dataset.key === at) e.focus();
}
function checklist(c) {
  const n = new Map();
  for (let r = 0; r < N; r++) if (passes(r, c.name)) n.set(c.codes[r], (n.get(c.codes[r]) || 0) + 1);
  const own = state.lists[c.name];
  const box = make('div', { className: 'choices' });
  c.values.forEach((v, i) => {
    const input = make('input', { type: 'checkbox', checked: !!own && own.includes(v) });
    input.dataset.key = c.name + '\n' + v;
    input.onchange = () => {
      const next = new Set(own || []); input.checked ? next.add(v) : next.delete(v);
      const all = { ...state.lists }; next.size ? all[c.name] = [...next] : delete all[c.name];
      change({ lists: all });
    };
    box.append(make('label', { className: 'choice' }, input, make('span', { textContent: v || '(empty)', dir: 'auto' }), make('span', { className: 'n', textContent: n.get(i) || 0 })));
  });
  return make('fieldset', {}, make('legend', { textContent: c.name }), box);
}
function histogram(c) {
  let low = Infinity, high = -Infinity;
  for (const v of c.numbers) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
  if (!(high > low)) return null;
  const bins = new Array(24).fill(0);
  for (let r = 0; r < N; r++) if (c.numbers[r] !== null && passes(r, c.name)) bins[Math.min(23, Math.floor((c.numbers[r] - low) / (high - low) * 24))]++;
  const most = Math.max(1, ...bins), ns = 'http://www.w3.org/2000/svg', svg = document.createElementNS(ns, 'svg');
  svg.setAttribute('viewBox', '0 0 240 44'); svg.setAttribute('preserveAspectRatio', 'none'); svg.setAttribute('aria-hidden', 'true');
  const rect = (x, y, w, h, kind) => { const e = document.createElementNS(ns, 'rect'); for (const [k, v] of Object.entries({ x, y, width: w, height: h, class: kind })) e.setAttribute(k, v); svg.append(e); return e; };
  bins.forEach((n, i) => rect(i * 10, 44 - 42 * n / most, 9, 42 * n / most, 'bar'));
  const own = state.ranges[c.name], px = v => (v - low) / (high - low) * 240;
  const brush = rect(own ? px(own[0]) : 0, 0, own ? Math.max(1, px(own[1]) - px(own[0])) : 0, 44, 'brush');
  const set = (a, b) => { const all = { ...state.ranges }; a <= low && b >= high ? delete all[c.name] : all[c.name] = [a, b]; change({ ranges: all }); };
  svg.onpointerdown = down => {
    svg.setPointerCapture(down.pointerId);
    const value = e => { const b = svg.getBoundingClientRect(); return low + (high - low) * Math.min(1, Math.max(0, (e.clientX - b.left) / b.width)); };
    const from = value(down); let to = from;
    svg.onpointermove = e => { to = value(e); brush.setAttribute('x', px(Math.min(from, to))); brush.setAttribute('width', Math.abs(px(to) - px(from))); };
    svg.onpointerup = () => { svg.onpointermove = svg.onpointerup = null; from === to ? set(low, high) : set(Math.min(from, to), Math.max(from, to)); };
  };
  const field = (name, value, other, k) => {
    const e = make('input', { type: 'number', step: 'any', value: +value.toPrecision(5), ariaLabel: `${c.name}, ${name}` });
    e.dataset.key = c.name + '\n' + name;
    e.onchange = () => { const v = Number(e.value); if (e.value !== '') k ? set(other, v) : set(v, other); };
    return e;
  };
  const [a, b] = own || [low, high];
  return make('fieldset', {}, make('legend', { textContent: c.name }), svg, field('from', a, b, 0), ' ', field('to', b, a, 1));
}

// Scatter plot.
const canvas = $('canvas');
const palette = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#8a6d00', '#7a3db8'];
let points = [];
function plot() {
  $('scatter').hidden = !state.plot;
  if (!state.plot) return;
  const x = byName.get(state.x), y = byName.get(state.y), color = byName.get(state.color);
  const box = canvas.getBoundingClientRect(), scale = Math.min(2, devicePixelRatio);
  canvas.width = box.width * scale; canvas.height = box.height * scale;
  const g = canvas.getContext('2d'); g.scale(scale, scale);
  const style = getComputedStyle(document.body), ink = style.color;
  points = [];
  if (!x || !y) return;
  const ends = c => { let a = Infinity, b = -Infinity; for (const v of c.numbers) if (v !== null) { a = Math.min(a, v); b = Math.max(b, v); } return a < b ? [a, b] : [a - 1, b + 1]; };
  const [x0, x1] = ends(x), [y0, y1] = ends(y), W = box.width - 70, H = box.height - 50;
  const px = v => 55 + (v - x0) / (x1 - x0) * W, py = v => 10 + H - (v - y0) / (y1 - y0) * H;
  canvas.back = (a, b) => [x0 + (a - 55) / W * (x1 - x0), y0 + (10 + H - b) / H * (y1 - y0)];
  const all = color ? [...new Set(color.codes)] : [], kinds = all.slice(0, palette.length);
  for (const front of [false, true]) for (let r = 0; r < N; r++) {
    if ((fails[r] === 0) !== front || x.numbers[r] === null || y.numbers[r] === null) continue;
    const a = px(x.numbers[r]), b = py(y.numbers[r]), k = color ? kinds.indexOf(color.codes[r]) : 0;
    g.globalAlpha = front ? 0.85 : 0.2; g.fillStyle = k < 0 ? ink : palette[k];
    g.beginPath(); g.arc(a, b, N > 5000 ? 2 : 3.5, 0, 7); g.fill();
    points.push([a, b, r]);
  }
  g.globalAlpha = 1; g.fillStyle = ink; g.font = '12px system-ui, sans-serif'; g.strokeStyle = ink;
  g.strokeRect(55, 10, W, H);
  const short = v => String(+v.toPrecision(3));
  g.textAlign = 'center'; g.fillText(short(x0), 55, H + 26); g.fillText(short(x1), 55 + W, H + 26); g.fillText(state.x, 55 + W / 2, H + 40);
  g.textAlign = 'right'; g.fillText(short(y0), 50, H + 10); g.fillText(short(y1), 50, 20);
  g.save(); g.translate(14, 10 + H / 2); g.rotate(-Math.PI / 2); g.textAlign = 'center'; g.fillText(state.y, 0, 0); g.restore();
  if (state.lasso) { g.beginPath(); state.lasso.forEach(([a, b], i) => i ? g.lineTo(px(a), py(b)) : g.moveTo(px(a), py(b))); g.closePath(); g.stroke(); }
  $('legend').replaceChildren(...kinds.map((k, i) => { const dot = make('i'); dot.style.background = palette[i]; return make('span', {}, dot, color.values[k] || '(empty)'); }));
  if (all.length > kinds.length) $('legend').append(make('span', { textContent: `${all.length - kinds.length} others: in the color of the text` }));
}
canvas.onpointerdown = down => {
  canvas.setPointerCapture(down.pointerId);
  const at = e => { const b = canvas.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  const path = [at(down)], g = canvas.getContext('2d');
  canvas.onpointermove = e => { path.push(at(e)); const [p, q] = path.slice(-2); g.beginPath(); g.moveTo(...p); g.lineTo(...q); g.stroke(); };
  canvas.onpointerup = () => {
    canvas.onpointermove = hover; canvas.onpointerup = null;
    if (path.length < 4) { const p = nearestPoint(path[0]); if (p) open(p[2]); return; }
    change({ lasso: path.filter((_, i) => i % Math.ceil(path.length / 60) === 0).map(([a, b]) => canvas.back(a, b).map(v => +v.toPrecision(6))) });
  };
};
function nearestPoint([a, b]) {
  let best = null, least = 100;
  for (const p of points) { const d = (p[0] - a) ** 2 + (p[1] - b) ** 2; if (d < least) { least = d; best = p; } }
  return best;
}
function hover(e) {
  const b = canvas.getBoundingClientRect(), p = nearestPoint([e.clientX - b.left, e.clientY - b.top]), box = $('hover');
  box.hidden = !p;
  if (!p || box.dataset.row === String(p[2])) return;
  box.dataset.row = p[2];
  box.replaceChildren(...pictures(p[2], 128), make('div', { textContent: id(p[2]), dir: 'auto' }));
  box.style.left = Math.min(p[0] + 12, b.width - 150) + 'px'; box.style.top = canvas.offsetTop + Math.min(p[1] + 12, b.height - 150) + 'px';
}
new ResizeObserver(() => plot()).observe(canvas);
matchMedia('(prefers-color-scheme: dark)').onchange = () => plot();
canvas.onpointermove = hover;
canvas.onpointerleave = () => { $('hover').hidden = true; };

// One image, large.
const dialog = $('detail'), stage = $('stage');
let view = { scale: 1, x: 0, y: 0, sharp: false };
function open(row) { change({ row }); }
function place() {
  const images = [...stage.querySelectorAll('img')];
  stage.classList.toggle('sharp', view.scale >= 2);
  images.forEach((img, k) => {
    img.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    if (k === 1) img.style.clipPath = `inset(0 0 0 ${$('slide').value}%)`;
    if (k === 1 && images[0].naturalWidth) img.style.width = images[0].naturalWidth + 'px';
  });
}
function fit() {
  const img = stage.querySelector('img'); if (!img || !img.naturalWidth) return;
  view.scale = Math.min(stage.clientWidth / img.naturalWidth, stage.clientHeight / img.naturalHeight);
  view.x = (stage.clientWidth - img.naturalWidth * view.scale) / 2; view.y = (stage.clientHeight - img.naturalHeight * view.scale) / 2;
  press('fit'); place();
}
new ResizeObserver(() => { if ($('fit').getAttribute('aria-pressed') === 'true') fit(); }).observe(stage);
function press(name) { for (const b of ['fit', 'pixels']) $(b).setAttribute('aria-pressed', b === name); }
$('fit').onclick = fit;
$('pixels').onclick = () => {
  const img = stage.querySelector('img'); if (!img) return;
  view.scale = 1 / devicePixelRatio; view.x = (stage.clientWidth - img.naturalWidth * view.scale) / 2; view.y = (stage.clientHeight - img.naturalHeight * view.scale) / 2;
  press('pixels'); place();
};
$('slide').oninput = place;
stage.addEventListener('wheel', e => {
  e.preventDefault();
  const b = stage.getBoundingClientRect(), f = Math.exp(-e.deltaY / 400), x = e.clientX - b.left, y = e.clientY - b.top;
  view.x = x - (x - view.x) * f; view.y = y - (y - view.y) * f; view.scale *= f; press(''); place();
}, { passive: false });
stage.onpointerdown = down => {
  stage.setPointerCapture(down.pointerId);
  const x = view.x - down.clientX, y = view.y - down.clientY;
  stage.onpointermove = e => { view.x = x + e.clientX; view.y = y + e.clientY; place(); };
  stage.onpointerup = () => { stage.onpointermove = null; };
};
function command(row) {
  const of = name => byName.has(name) ? cell(byName.get(name), row) : '';
  if (!of('prompt') || !of('model')) return '';
  const quote = s => "'" + s.replaceAll("'", "'\\''") + "'";
  return `antipode generate --model ${quote(of('model'))} --prompt ${quote(of('prompt'))}` + (of('seed') ? ` --seed ${of('seed')}` : '') + (of('steps') ? ` --steps ${of('steps')}` : '');
}
async function facts(row) {
  const list = make('dl');
  const add = (name, value) => list.append(make('dt', { textContent: name }), make('dd', { textContent: value, dir: 'auto' }));
  if (data.missing[row]) add('image', data.missing[row]);
  if (data.tags && data.tags.length) add(`tags of ${data.rater} (keys: ${data.tags.map((t, i) => `${i + 1} ${t}`).join(', ')})`, [...tagsOf(row)].join(', ') || 'none');
  for (const c of columns) add(c.name, cell(c, row));
  if (command(row)) add('to make a similar image again', command(row));
  $('facts').replaceChildren(list);
  if (!served && data.links[row]) list.prepend(make('dt', { textContent: 'original' }), make('dd', {}, make('a', { href: data.links[row], textContent: data.links[row], target: '_blank', rel: 'noreferrer' })));
  if (data.reference) await balls(row);
  for (const name of served ? data.vectors || [] : []) {
    const near = await (await fetch(`near/${row}?vector=${encodeURIComponent(name)}`)).json();
    if (row !== state.row || !near || !near.length) continue;
    $('facts').append(make('p', { textContent: `Nearest by ${name}, with the distance 1 − cosine` }), make('div', { className: 'near' }, ...near.map(n => {
      const b = make('button', { type: 'button', title: id(n.row) }, ...pictures(n.row, 128), make('div', { textContent: n.distance.toFixed(3) }));
      b.onclick = () => open(n.row);
      return b;
    })));
  }
}
async function balls(row) {
  const found = await (await fetch('reference/' + row)).json();
  if (row !== state.row || !found) return;
  const text = found.inside ? `In the balls of ${found.inside} of ${found.of} reference images by ${data.reference}: it counts for precision, ` +
    `and covers them for coverage${found.alone ? `, ${found.alone} of them alone` : ''}.` :
    `In no ball of ${found.of} reference images by ${data.reference}: it does not count for precision, and covers none.`;
  $('facts').append(make('p', { id: 'balls', textContent: text + ' The nearest, with distance and radius of the ball:' }),
    make('div', { className: 'near' }, ...found.nearest.map(n => make('div', { className: n.inside ? 'inside' : '', title: n.id },
      make('img', { alt: n.id, src: `reference/${n.row}/thumb`, loading: 'lazy' }),
      make('div', { textContent: `${n.distance.toPrecision(3)} ${n.inside ? '<' : '≥'} ${n.radius.toPrecision(3)}` })))));
}
let showing = null;
function detail() {
  const row = state.row;
  if (row === null || !(row >= 0 && row < N)) { showing = null; if (dialog.open) dialog.close(); return; }
  if (row === showing && dialog.open) return;
  showing = row;
  if (!dialog.open) dialog.showModal();
  dialog.setAttribute('aria-label', 'Image ' + id(row));
  const sources = [];
  for (let k = 0; k < K; k++) if (!data.missing[row] && (served || data.thumbs[k][row])) sources.push(served ? `image/${row}/${k}` : data.thumbs[k][row]);
  stage.replaceChildren(...sources.map((src, k) => { const img = make('img', { alt: id(row), src, draggable: false, onload: () => k ? place() : fit() }); img.onerror = () => { img.remove(); if (!k) stage.textContent = 'The image cannot be read.'; }; return img; }));
  if (!sources.length) stage.textContent = data.missing[row] || 'no image';
  $('slidelabel').hidden = sources.length < 2;
  facts(row);
}
function step(d) { const i = order.indexOf(state.row); if (order.length) { focus = ((i < 0 ? 0 : i + d) + order.length) % order.length; change({ row: order[focus] }, true); } }
$('previous').onclick = () => step(-1);
$('next').onclick = () => step(1);
dialog.addEventListener('keydown', e => { if (e.target.matches('input')) return; if (e.key === 'ArrowLeft') step(-1); if (e.key === 'ArrowRight') step(1); });
dialog.addEventListener('close', () => { if (state.row !== null) change({ row: null }); if (focus >= 0) go(focus); });

// What can be taken away.
const taken = () => selected.size ? order.filter(r => selected.has(r)).concat([...selected].filter(r => fails[r])) : order;
function save(name, text) {
  const a = make('a', { download: name, href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })) });
  a.click(); setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
const csv = s => /[",\r\n]/.test(s) ? '"' + s.replaceAll('"', '""') + '"' : s;
const line = make('textarea', { rows: 4, readOnly: true, ariaLabel: 'A line for a cell' });
const actions = [
  ['Ids as CSV', () => save('ids.csv', 'id\n' + taken().map(r => csv(id(r))).join('\n') + '\n')],
  ...!byName.has('id') ? [] : [['A line for a cell', () => { line.hidden = false; line.value = `.Where("id", "in", []string{${taken().map(r => JSON.stringify(id(r))).join(', ')}})`; line.select(); }]],
];
if (served) actions.push(['Copies in a folder', async () => say(await (await fetch('copies', { method: 'POST', body: JSON.stringify({ rows: taken() }) })).text())]);
line.hidden = true;
$('take').append(make('div', { textContent: 'Of the selected rows, or of all that are shown:' }), ...actions.map(([name, f]) => { const b = make('button', { textContent: name }); b.onclick = f; return b; }), line);

// A figure whose marks select rows.
const marked = [];
if (data.figure) {
  const f = data.figure, box = make(f.image ? 'div' : 'table', { className: 'plot' });
  if (f.image) box.append(make('img', { src: f.image, alt: f.text }));
  else box.append(make('tr', {}, ...f.head.map(t => make('th', { textContent: t, dir: 'auto' }))));
  f.marks.forEach((m, i) => {
    const lists = m.Lists || {}, name = Object.entries(lists).map(([c, v]) => `${c}: ${v[0] || '(empty)'}`).join(', ');
    const b = make('button', { title: name, disabled: !m.Lists });
    b.onclick = () => change({ lists: same(lists) ? {} : lists, row: null });
    marked.push([b, lists]);
    if (f.image) { b.ariaLabel = name || 'no images'; for (const [k, v] of [['left', m.X], ['top', m.Y], ['width', m.W], ['height', m.H]]) b.style[k] = 100 * v + '%'; box.append(b); return; }
    b.textContent = f.cells[i][0] || '(empty)';
    box.append(make('tr', {}, make('td', {}, b), ...f.cells[i].slice(1).map(t => make('td', { textContent: t, dir: 'auto' }))));
  });
  $('figure').append(box); $('figure').hidden = false;
}
function same(lists) {
  const text = o => JSON.stringify(Object.keys(o).sort().map(k => [k, [...o[k]].sort()]));
  return text(lists) === text(state.lists);
}

// Controls.
const choose = (e, list, none) => { e.replaceChildren(...(none ? [make('option', { value: '', textContent: none })] : []), ...list.map(c => make('option', { value: c.name, textContent: c.name }))); };
choose($('sort'), columns, 'the table'); choose($('group'), lists, 'nothing'); choose($('color'), lists, 'nothing');
choose($('x'), numbers); choose($('y'), numbers);
$('plot').hidden = numbers.length < 2;
$('partlabel').hidden = !(served && data.masks);
choose($('part'), ['whole', 'outline', 'box', 'object', 'background'].map(name => ({ name })));
for (const c of columns) {
  const box = make('input', { type: 'checkbox', value: c.name });
  box.onchange = () => change({ captions: box.checked ? [...state.captions, c.name] : state.captions.filter(n => n !== c.name) });
  $('captions').append(make('label', {}, box, ' ' + c.name));
}
for (const name of ['sort', 'group', 'color', 'part']) $(name).onchange = () => change({ [name]: $(name).value });
for (const name of ['x', 'y']) $(name).onchange = () => change({ [name]: $(name).value, lasso: null });
$('down').onclick = () => change({ down: !state.down });
$('size').oninput = () => change({ size: Number($('size').value) }, true);
let typing;
$('search').oninput = () => { const q = $('search').value; clearTimeout(typing); typing = setTimeout(() => change({ q }, true), 150); };
$('plot').onclick = () => {
  const part = numbers.filter(c => / component [12]$/.test(c.name)), [a, b] = part.length > 1 ? part : numbers;
  change({ plot: !state.plot, x: state.x || a.name, y: state.y || b.name });
};
$('unlasso').onclick = () => change({ lasso: null });
$('clear').onclick = () => change({ q: '', lists: {}, ranges: {}, lasso: null });
window.addEventListener('popstate', () => { load(); update(); });
window.addEventListener('hashchange', () => { load(); update(); });

let drawn = '';
function update() {
  const kept = grid.contains(document.activeElement); // its tile is made anew
  const what = JSON.stringify({ ...state, row: null, plot: null });
  for (const name of ['sort', 'group', 'color', 'part', 'x', 'y', 'size']) $(name).value = state[name];
  if (document.activeElement !== $('search')) $('search').value = state.q;
  $('down').setAttribute('aria-pressed', state.down);
  $('plot').setAttribute('aria-pressed', state.plot);
  for (const [b, lists] of marked) b.setAttribute('aria-pressed', same(lists));
  for (const box of $('captions').querySelectorAll('input')) box.checked = state.captions.includes(box.value);
  if (what !== drawn) { drawn = what; filter(); facets(); layout(); } else { for (const [, e] of shown) e.forEach(x => x.remove()); shown.clear(); paint(); }
  if (kept && $('tile-' + focus)) $('tile-' + focus).focus({ preventScroll: true });
  plot(); detail();
}
load(); update();
})().catch(e => { document.getElementById('message').textContent = 'The page cannot be shown: ' + e; });
