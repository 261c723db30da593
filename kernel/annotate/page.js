'use strict';
// A page of questions. Texts are shown with textContent only. The state is stored after every change.
(() => {
const page = JSON.parse(document.getElementById('page').textContent);
const stored = 'annotate/' + page.study + '/' + page.page;
const questions = page.items.map(item => item.steps.flat());
// items: by number from 1: {skip} or {answers: by number of the question from 1: {pick, none, unsure, note, boxes}}
const state = {at: -1, step: 0, items: {}}; // at: -1 = start, number of items = end
let active = 0;       // question of the step that the number keys answer
let marking = null;   // [answer, option] that a box belongs to
let saved = true;     // the browser stores the answers
let refocus = false;  // a button was pressed by key: it keeps the focus when the page is shown again

const resumed = (() => {
	try {
		const text = localStorage.getItem(stored);
		if (!text) return false;
		const found = JSON.parse(text);
		if (!(found.at >= -1 && found.at <= page.items.length && found.items)) return false;
		Object.assign(state, found);
		state.step = Math.min(state.step, (page.items[state.at]?.steps.length ?? 1) - 1);
		return Object.keys(state.items).length > 0;
	} catch {
		saved = false;
		return false;
	}
})();

// Answers of another tab are taken over: each tab stores those of all.
addEventListener('storage', event => {
	if (event.key !== stored || !event.newValue) return;
	const here = JSON.stringify(state.items[state.at + 1]);
	Object.assign(state.items, JSON.parse(event.newValue).items);
	if (JSON.stringify(state.items[state.at + 1]) !== here) render();
});

function store() {
	try {
		localStorage.setItem(stored, JSON.stringify(state));
		saved = true;
	} catch {
		saved = false;
	}
}

function el(tag, properties, ...children) {
	const e = document.createElement(tag);
	for (const [name, value] of Object.entries(properties || {})) {
		if (name === 'class') e.className = value;
		else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
		else if (value !== undefined && value !== false) e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children.filter(c => c !== null && c !== undefined));
	return e;
}
const key = text => el('kbd', {'aria-hidden': 'true'}, text);

function answerOf(item, question) {
	return state.items[item + 1]?.answers?.[question + 1];
}
function change(item, question, edit) {
	const i = state.items[item + 1] ??= {};
	delete i.skip;
	const a = (i.answers ??= {})[question + 1] ??= {};
	edit(a);
	store();
}
// needed reports whether a question is asked: it may depend on another one.
function needed(item, question) {
	const needs = questions[item][question].needs;
	return !needs || (answerOf(item, needs[0])?.pick ?? []).includes(needs[1] + 1);
}
function answered(item, question) {
	const a = answerOf(item, question);
	return !!a && (a.unsure || a.none || (a.pick ?? []).length > 0);
}
function done(item) {
	return !!state.items[item + 1]?.skip || questions[item].every((q, i) => !needed(item, i) || answered(item, i));
}
const count = () => page.items.filter((_, i) => done(i)).length;
// first returns the position of the first question of the step among those of the item.
function first() {
	return page.items[state.at].steps.slice(0, state.step).reduce((n, s) => n + s.length, 0);
}
// asked returns the positions of the step's questions that are asked.
function asked() {
	return page.items[state.at].steps[state.step].map((_, i) => first() + i).filter(i => needed(state.at, i));
}
const complete = () => !!state.items[state.at + 1]?.skip || asked().every(i => answered(state.at, i));
// resume goes to the first questions without an answer, or to the end.
function resume() {
	const at = page.items.findIndex((_, i) => !done(i));
	if (at < 0) return go(page.items.length, 0);
	let from = 0;
	const step = page.items[at].steps.findIndex(questions => {
		const left = questions.some((_, i) => needed(at, from + i) && !answered(at, from + i));
		from += questions.length;
		return left;
	});
	go(at, Math.max(0, step));
}

function choose(q, option) {
	const many = questions[state.at][q].many;
	change(state.at, q, a => {
		const had = (a.pick ?? []).includes(option + 1);
		delete a.none;
		delete a.unsure;
		delete a.note;
		if (many) {
			a.pick = (a.pick ?? []).filter(o => o !== option + 1);
			if (!had) a.pick = [...a.pick, option + 1].sort((x, y) => x - y);
			else if (a.boxes) delete a.boxes[option + 1];
		} else {
			a.pick = [option + 1];
		}
		marking = page.boxes && !had ? [q, option + 1] : null;
	});
	if (!many) advance(q);
	render();
}
function only(q, what) { // none of the options, or no judgment
	change(state.at, q, a => {
		for (const k of Object.keys(a)) delete a[k];
		a.pick = [];
		a[what] = true;
	});
	marking = null;
	if (!questions[state.at][q].note) advance(q);
	render();
}
// advance makes the next question of the step the active one.
function advance(q) {
	const list = asked();
	active = Math.min(list.indexOf(q) + 1, list.length - 1);
}

function go(at, step) {
	state.at = Math.max(-1, Math.min(at, page.items.length));
	state.step = step;
	active = 0;
	marking = null;
	store();
	render();
	window.scrollTo(0, 0);
}
function next() {
	if (state.at < 0) return resume();
	if (state.at >= page.items.length || !complete()) return;
	if (!state.items[state.at + 1]?.skip && state.step + 1 < page.items[state.at].steps.length) {
		return go(state.at, state.step + 1);
	}
	go(state.at + 1, 0);
}
function back() {
	if (state.at < 0) return;
	if (state.at < page.items.length && state.step > 0) return go(state.at, state.step - 1);
	go(state.at - 1, Math.max(0, (page.items[state.at - 1]?.steps.length ?? 1) - 1));
}
function skip() {
	if (state.at < 0 || state.at >= page.items.length) return;
	state.items[state.at + 1] = {skip: true};
	go(state.at + 1, 0);
}

function download() {
	const items = {};
	for (const [n, i] of Object.entries(state.items)) {
		if (i.skip) {
			items[n] = {skip: true};
			continue;
		}
		items[n] = {answers: {}};
		for (const [q, a] of Object.entries(i.answers ?? {})) {
			if (needed(n - 1, q - 1) && answered(n - 1, q - 1)) items[n].answers[q] = a;
		}
	}
	const content = {format: 'annotation answers 1', study: page.study, page: page.page, items};
	const url = URL.createObjectURL(new Blob([JSON.stringify(content, null, '\t') + '\n'], {type: 'application/json'}));
	const a = el('a', {href: url, download: 'answers-' + page.study + '-' + page.page + '.json'});
	document.body.append(a);
	a.click();
	a.remove();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
}

function start() {
	return el('section', {class: 'card text'},
		el('h1', null, page.title),
		el('p', {class: 'warning'}, el('strong', null, 'Content warning. '), 'The images may be disturbing or ' +
			'offensive, and so may some words. A computer program made the images, unless you were told otherwise: ' +
			'they say nothing about any person or group.'),
		...page.intro.map(t => el('p', null, t)),
		el('p', null, 'You can skip any item, take a break at any time, and stop without giving a reason.'),
		el('p', null, 'Your answers are stored in this browser only. The page sends nothing. At the end you download ' +
			'a file with your answers and return it to the person who gave you this page. It contains the answers and ' +
			'the name of this page (', el('span', {class: 'nowrap'}, page.page), '), and nothing about you.'),
		resumed ? el('p', {class: 'resumed'}, 'Your earlier answers are here: ' + count() + ' of ' + page.items.length +
			' items are complete.') : null,
		el('p', {class: 'actions'}, el('button', {class: 'primary', id: 'begin', onclick: resume},
			resumed ? 'I agree, continue' : 'I agree, begin', key('Enter'))));
}

function end() {
	const left = page.items.map((_, i) => i).filter(i => !done(i));
	const skipped = Object.values(state.items).filter(i => i.skip).length;
	return el('section', {class: 'card text'},
		el('h1', null, left.length ? 'Not complete yet' : 'All items are complete'),
		el('p', null, count() + ' of ' + page.items.length + ' items are complete' +
			(skipped ? ', of which ' + skipped + ' skipped.' : '.')),
		left.length ? el('p', {class: 'open'}, 'Without an answer: ', ...left.map(i =>
			el('button', {onclick: () => go(i, 0)}, String(i + 1)))) : null,
		el('p', null, 'Download the file with your answers and return it to the person who gave you this page. ' +
			'Thank you.'),
		el('p', {class: 'actions'}, el('button', {class: 'primary', id: 'download', onclick: download},
			'Download answers', key('D')), el('button', {onclick: back}, 'Back', key('←'))));
}

function shown(index, properties) {
	return el('img', {src: page.images[index], alt: 'image', draggable: 'false', ...properties});
}
const ratios = {}; // width over height of the images seen

// canvas returns the image of an item, on which boxes can be drawn.
function canvas(item) {
	const index = item.images[0];
	// as large as the window permits, without a change of proportions
	const fit = () => { frame.style.width = 'min(100%, calc((100vh - 130px) * ' + ratios[index] + '))'; };
	const frame = el('div', {class: 'frame'}, shown(index, {onload: e => {
		ratios[index] = e.target.naturalWidth / e.target.naturalHeight;
		fit();
	}}));
	if (ratios[index]) fit();
	if (!page.boxes) return frame;
	const place = (box, label) => {
		const e = el('div', {class: 'box'}, label ? el('span', null, label) : null);
		const percent = n => (100 * n) + '%';
		e.style.left = percent(box[0]);
		e.style.top = percent(box[1]);
		e.style.width = percent(box[2] - box[0]);
		e.style.height = percent(box[3] - box[1]);
		return e;
	};
	for (const q of asked()) {
		for (const [option, box] of Object.entries(answerOf(state.at, q)?.boxes ?? {})) {
			frame.append(place(box, questions[state.at][q].options[option - 1]));
		}
	}
	if (!marking) return frame;
	frame.classList.add('marking');
	let from = null, drawn = null;
	const point = e => {
		const r = frame.getBoundingClientRect();
		return [(e.clientX - r.left) / r.width, (e.clientY - r.top) / r.height].map(v => Math.max(0, Math.min(1, v)));
	};
	const box = to => [0, 1].map(i => Math.min(from[i], to[i])).concat([0, 1].map(i => Math.max(from[i], to[i])));
	frame.addEventListener('pointerdown', e => {
		from = point(e);
		frame.setPointerCapture(e.pointerId);
	});
	frame.addEventListener('pointermove', e => {
		if (!from) return;
		drawn?.remove();
		drawn = place(box(point(e)));
		frame.append(drawn);
	});
	frame.addEventListener('pointerup', e => {
		if (!from) return;
		const b = box(point(e)), [q, option] = marking;
		from = null;
		if (b[2] - b[0] > 0.01 && b[3] - b[1] > 0.01) {
			change(state.at, q, a => { (a.boxes ??= {})[option] = b.map(v => Math.round(v * 1e4) / 1e4); });
		}
		render();
	});
	return frame;
}

function ask(q, place) {
	const question = questions[state.at][q], a = answerOf(state.at, q) ?? {};
	const current = place === active;
	const button = (chosen, label, badge, pick) => el('button', {class: 'option', 'aria-pressed': String(!!chosen),
		onclick: e => {
			active = place;
			refocus = e.detail === 0;
			pick();
		}}, current ? key(badge) : key(' '), el('span', null, label));
	const options = question.options.map((label, i) =>
		button((a.pick ?? []).includes(i + 1), label, String(i + 1), () => choose(q, i)));
	const extra = [];
	if (question.many) extra.push(button(a.none, 'None of these', 'N', () => only(q, 'none')));
	if (question.unsure) extra.push(button(a.unsure, question.unsure, 'U', () => only(q, 'unsure')));
	const note = question.note && a.unsure ? el('label', {class: 'note'}, question.note,
		el('input', {type: 'text', maxlength: '500', value: a.note ?? '', oninput: e =>
			change(state.at, q, x => { x.note = e.target.value; })})) : null;
	return el('fieldset', {class: current ? 'question active' : 'question'}, el('legend', null, question.text),
		el('div', {class: 'options'}, ...options), extra.length ? el('div', {class: 'options extra'}, ...extra) : null,
		note);
}

function work() {
	const item = page.items[state.at], list = asked();
	active = Math.max(0, Math.min(active, list.length - 1));
	const media = [];
	if (item.images?.length === 1) media.push(canvas(item));
	else if (item.images) media.push(el('div', {class: 'grid'}, ...item.images.map(i => shown(i))));
	if (item.compare?.length) {
		media.push(el('p', {class: 'hint'}, 'For comparison, images for other words:'),
			el('div', {class: 'grid compare'}, ...item.compare.map(i => shown(i))));
	}
	return el('section', {class: 'work' + (media.length ? '' : ' text')},
		media.length ? el('div', {class: 'media'}, ...media) : null,
		el('div', {class: 'card'},
			item.heading ? el('h2', null, item.heading) : null,
			...list.map(ask),
			marking ? el('p', {class: 'hint'}, 'Optional: draw a box on the image around “' +
				questions[state.at][marking[0]].options[marking[1] - 1] + '”.') : null,
			el('p', {class: 'actions'},
				el('button', {class: 'primary', id: 'next', disabled: !complete(), onclick: next}, 'Next', key('Enter')),
				el('button', {onclick: back}, 'Back', key('←')),
				el('button', {onclick: skip}, 'Skip this item', key('S')))));
}

function render() {
	const at = state.at, total = page.items.length, inside = at >= 0 && at < total;
	const steps = inside ? page.items[at].steps.length : 0;
	const buttons = () => [...document.querySelectorAll('#app button')];
	const focused = refocus ? buttons().indexOf(document.activeElement) : -1;
	refocus = false;
	const bar = el('div', {class: 'bar', role: 'progressbar', 'aria-valuemin': '0', 'aria-valuemax': String(total),
		'aria-valuenow': String(count()), 'aria-label': 'complete items'}, el('div'));
	bar.firstChild.style.width = (100 * count() / total) + '%';
	document.getElementById('app')?.remove();
	document.body.append(el('div', {id: 'app'},
		el('header', null, el('span', {class: 'title'}, page.title), bar,
			el('span', {class: 'count'}, (inside ? 'Item ' + (at + 1) + ' of ' + total + (steps > 1 ? ', part ' +
				(state.step + 1) + ' of ' + steps : '') + ' · ' : '') + count() + ' complete'),
			at >= 0 ? el('button', {class: 'quiet', onclick: download, title: 'Download the answers so far'},
				'Save a copy') : null),
		saved ? null : el('p', {class: 'warning'}, 'This browser does not store the answers. Do not close the page ' +
			'before you have downloaded them.'),
		el('main', null, at < 0 ? start() : inside ? work() : end())));
	buttons()[focused]?.focus();
}

document.addEventListener('keydown', e => {
	if (e.ctrlKey || e.metaKey || e.altKey) return;
	if (e.target.tagName === 'INPUT') {
		if (e.key === 'Enter') {
			e.preventDefault();
			next();
		}
		return;
	}
	if (e.target.tagName === 'BUTTON' && (e.key === 'Enter' || e.key === ' ')) return;
	const inside = state.at >= 0 && state.at < page.items.length;
	const list = inside ? asked() : [], q = list[active];
	const question = inside ? questions[state.at][q] : null;
	const k = e.key.toLowerCase();
	const act = f => { e.preventDefault(); f(); };
	if (k === 'enter' || k === 'arrowright') {
		act(next);
	} else if (k === 'arrowleft' || k === 'backspace') act(back);
	else if (k === 'd' && state.at >= page.items.length) act(download);
	else if (!inside) return;
	else if (k === 's') act(skip);
	else if (k === 'arrowdown') act(() => { active = Math.min(active + 1, list.length - 1); render(); });
	else if (k === 'arrowup') act(() => { active = Math.max(active - 1, 0); render(); });
	else if (/^[1-9]$/.test(k) && k <= question.options.length) act(() => choose(q, k - 1));
	else if (k === 'n' && question.many) act(() => only(q, 'none'));
	else if (k === 'u' && question.unsure) act(() => only(q, 'unsure'));
});

state.at = -1; // the content warning comes first, also for those who continue
state.step = 0;
render();
})();
