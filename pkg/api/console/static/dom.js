// Elements of the pages. Text from the API becomes text nodes, never markup.

import { onReconnect } from './connection.js';
import { inWords, sentences } from './messages.js';

let lastId = 0;

/** Returns an ID that is unique in the document. */
export function uniqueId() {
  lastId += 1;
  return `e${lastId}`;
}

/**
 * Creates an element.
 * @param {string} tag
 * @param {Object<string, unknown>} [props] attributes; functions such as `onclick` are event listeners; true sets an attribute, false, null
 *   and undefined omit it
 * @param {...(Node|string|number|false|null|undefined|Array)} children strings and numbers become text
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  append(element, ...children);
  return element;
}

/**
 * Appends children to an element. All views use it instead of `Element.append`, which shows false, null and undefined as text.
 * @param {Element} parent
 * @param {...(Node|string|number|false|null|undefined|Array)} children see `h`
 */
export function append(parent, ...children) {
  parent.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** Replaces the children of an element, see `append`. */
export function replace(parent, ...children) {
  parent.replaceChildren();
  append(parent, ...children);
}

/** A number with a bar, which is only decoration. `part` is its length, from 0 to 1. */
export function withBar(number, part) {
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.setProperty('--part', part);
  return h('span', { class: 'usage' }, h('span', null, number), bar);
}

/**
 * Text from the API in a sentence: its direction does not affect the text around it. A long name breaks after a point or an
 * underscore, as it does after a hyphen. The
 * places where it may break are not part of the names of links and buttons.
 */
export const text = (value) => h('bdi', null, String(value).split(/(?<=[._])(?=\p{L})/u).flatMap((part, i) => (i === 0 ? part : [h('wbr', { 'aria-hidden': 'true' }), part])));

/**
 * A table that becomes a list of cards on narrow screens. The roles keep it a table for screen readers when CSS changes its display.
 * @param {string} caption the table's name for screen readers
 * @param {Array<string|{name: string, class: string, sort: (name: string) => Node, sorted: string}>} columns the class is for all cells of
 *   the column; `sort` makes the control that sorts by it, and `sorted` is its `aria-sort`
 * @param {HTMLTableRowElement[]} rows see `row`
 */
export function table(caption, columns, rows) {
  return h('table', { role: 'table' },
    h('caption', { class: 'visually-hidden' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map((column) =>
      h('th', { role: 'columnheader', scope: 'col', class: column.class, 'aria-sort': column.sorted },
        column.sort ? column.sort(column.name) : column.name ?? column)))),
    h('tbody', { role: 'rowgroup' }, rows));
}

/**
 * A column that sorts a list that the page has loaded as a whole.
 * @param {number|false} order 1 if the list is sorted by it, ascending, -1 descending
 * @param {() => void} sort
 */
export function sortColumn(name, order, sort) {
  return {
    name,
    sorted: order && (order > 0 ? 'ascending' : 'descending'),
    sort: () => h('button', { type: 'button', class: 'sort', 'data-sort': name, onclick: sort },
      name, h('span', { class: 'arrow', 'aria-hidden': 'true' }, order ? (order > 0 ? '↑' : '↓') : '↕')),
  };
}

/**
 * A row of `table`. The first cell is its header. A cell is a child of `h`, or an array of them.
 * @param {Array} columns those of the table
 * @param {Array} cells
 */
export function row(columns, cells) {
  return h('tr', { role: 'row' }, cells.map((cell, i) => i === 0
    ? h('th', { role: 'rowheader', scope: 'row' }, cell)
    : h('td', { role: 'cell', class: columns[i].class, 'data-label': columns[i].name ?? columns[i] }, cell)));
}

/**
 * A labelled control with an optional hint and a place for its error.
 * @param {string} label
 * @param {HTMLElement} control has a `name`
 * @param {Node|string} [hint]
 * @param {HTMLElement} [element] that contains the control, and is shown instead of it
 */
export function field(label, control, hint, element = control) {
  control.id ||= uniqueId();
  const hintId = `${control.id}-hint`;
  if (hint) control.setAttribute('aria-describedby', hintId);
  return h('div', { class: 'field' },
    h('label', { for: control.id }, label),
    element,
    hint ? h('p', { class: 'hint', id: hintId }, hint) : null);
}

/** Shows an error next to a control, or removes it if the message is empty. */
export function setError(control, message) {
  const id = `${control.id}-error`;
  document.getElementById(id)?.remove();
  const ids = (control.getAttribute('aria-describedby') ?? '').split(' ').filter((other) => other && other !== id);
  if (message) {
    append(control.closest('.field'), h('p', { class: 'error', id }, message));
    ids.unshift(id);
  }
  if (message) control.setAttribute('aria-invalid', 'true');
  else control.removeAttribute('aria-invalid');
  if (ids.length > 0) control.setAttribute('aria-describedby', ids.join(' '));
  else control.removeAttribute('aria-describedby');
}

/** An error of one control, thrown by the `send` function of `form`. */
export class FieldError extends Error {
  /** @param {string} field the name of the control */
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

/**
 * A form that calls `send` once at a time. While `send` runs, the submit button says so. Its errors appear next to the controls that they
 * name (a FieldError, or an ApiError with the pointers `/body/<name>` or `/query/<name>`), otherwise above the buttons. The event `refused`
 * with an error as its detail shows the error too.
 * @param {Object<string, unknown>} props attributes of the form, and
 *   `send` {() => Promise<void>}, `submit` the text of the submit button, `busy` its text while `send` runs, `danger` for a red button,
 *   `cancel` {() => void} adds a cancel button
 */
export function form({ send, submit, busy, danger, cancel, ...props }, ...children) {
  const problem = h('p', { class: 'error', role: 'alert' });
  const button = h('button', { class: danger ? 'danger' : 'primary', type: 'submit' }, submit);
  const element = h('form', { novalidate: true, onsubmit: listen, onrefused: ({ detail }) => show(detail), ...props }, children, problem,
    h('div', { class: 'buttons' }, button, cancel ? h('button', { type: 'button', onclick: () => cancel() }, 'Cancel') : null));
  let running = false;

  async function listen(event) {
    event.preventDefault();
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true'); // unlike `disabled`, it keeps the focus
    button.setAttribute('aria-busy', 'true');
    button.textContent = busy;
    problem.textContent = '';
    for (const control of element.elements) if (control.name) setError(control, '');
    try {
      await send();
    } catch (error) {
      show(error);
    } finally {
      running = false;
      button.removeAttribute('aria-disabled');
      button.removeAttribute('aria-busy');
      button.textContent = submit;
    }
  }

  function show(error) {
    const messages = error.field ? [{ name: error.field, message: error.message }] : sentences(error);
    for (const control of element.elements) {
      const found = control.name ? messages.filter(({ name }) => name === control.name) : [];
      if (found.length === 0) continue;
      setError(control, found.map(({ message }) => inWords(message)).join(' '));
      for (const item of found) messages.splice(messages.indexOf(item), 1);
    }
    problem.textContent = messages.map(({ name, message }) => inWords(message, name)).join(' ');
    if (error.id && messages.length > 0) append(problem, ' ', h('small', null, 'Request ID: ', h('code', null, error.id)));
    element.querySelector('[aria-invalid]')?.focus();
  }

  return element;
}

/**
 * Divides an error of the API by the controls of a page.
 * @param {Error} error
 * @param {(pointer: string) => string|undefined} controlOf names the control for a pointer into the body, such as `constraints/0/values/1`
 * @returns {{byControl: Object<string, string>, rest: string}} `rest` is what no control shows
 */
export function dividedError(error, controlOf) {
  const byControl = {};
  const rest = [];
  for (const { name, message } of sentences(error)) {
    const control = name === undefined ? undefined : controlOf(name);
    if (control === undefined) rest.push(inWords(message, name));
    else byControl[control] = [byControl[control], inWords(message)].filter(Boolean).join(' ');
  }
  return { byControl, rest: rest.join(' ') };
}

/**
 * Opens a modal dialog. Escape closes it, a click outside does not. The focus returns to where it was.
 * @param {string} title
 * @param {(dialog: HTMLDialogElement) => Array} content its children
 * @param {() => void} [closed] called after it was closed
 * @param {() => void} [leave] called instead of closing it when Escape is pressed
 */
export function openDialog(title, content, closed, leave) {
  const heading = h('h2', { id: uniqueId(), tabindex: '-1' }, title);
  const dialog = h('dialog', {
    'aria-labelledby': heading.id,
    onclose: () => { dialog.remove(); closed?.(); },
    oncancel: leave && ((event) => event.target === dialog && event.preventDefault()),
    onkeydown: leave && ((event) => {
      // The browser closes a dialog at the second `cancel` event, whatever the first one's listener did.
      if (event.key !== 'Escape' || event.target.closest('dialog') !== dialog) return;
      event.preventDefault();
      leave();
    }),
  }, heading);
  append(dialog, content(dialog));
  append(document.querySelector('main'), dialog); // a change of the page removes it
  dialog.showModal();
  return dialog;
}

/**
 * Buttons for the pages of a list that the page has loaded as a whole.
 * @param {string} label of the pages for screen readers
 * @param {(offset: number) => void} go shows the page that begins there
 */
export function pager(label, total, offset, size, go) {
  if (total <= size) return null;
  const to = (target, text) => h('button', { type: 'button', onclick: () => go(target) }, text);
  return h('nav', { class: 'months', 'aria-label': label },
    offset > 0 && to(Math.max(0, offset - size), '‹ Previous'), offset + size < total && to(offset + size, 'Next ›'));
}

/** The part of a list that is shown: "51–100 of 500 fields". */
export const range = (total, offset, size, ...names) => (total <= size ? counted(total, ...names)
  : `${(offset + 1).toLocaleString('en')}–${Math.min(total, offset + size).toLocaleString('en')} of ${counted(total, ...names)}`);

let pending = false;

/**
 * Returns a listener that calls an asynchronous function, unless one that began before has not ended. A dialog that must load something
 * first opens only once, however often its button is pressed on a slow network.
 */
export const once = (action) => async (event) => {
  if (pending) return;
  const button = event.currentTarget;
  pending = true;
  button.setAttribute('aria-disabled', 'true');
  try {
    await action(event);
  } finally {
    pending = false;
    button.removeAttribute('aria-disabled');
  }
};

/** A number in words: "1 toggle", "12 toggles". */
export const counted = (count, one, many = `${one}s`) => `${count.toLocaleString('en')} ${count === 1 ? one : many}`;

/** Says that something is loading, and shows rows without content in its place. */
export const loading = (what) => h('p', { class: 'loading', role: 'status' }, `Loading ${what}…`);

/** The address of the event log with filters, which have the names of the API's parameters. */
export function logAddress(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== undefined));
  return `#/events${query.size > 0 ? '?' : ''}${query}`.replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/** A link to the event log. `about` completes its text for screen readers. */
export const logLink = (filters, label, ...about) =>
  h('a', { href: logAddress(filters) }, label, h('span', { class: 'visually-hidden' }, ' ', about));

/** Several links in a line. */
export const links = (...all) => h('div', { class: 'detail links' }, all);

/**
 * Shows why something could not be loaded, with the ID of the request, and a button that repeats it. Without a connection, which the bar of
 * connection.js shows, it is repeated as soon as there is one.
 */
export function failure(error, retry) {
  if (error.name === 'NoConnection' && retry) {
    const place = h('p', { class: 'empty' }, 'This appears when there is a connection again.');
    onReconnect(() => place.isConnected && retry());
    return place;
  }
  return h('div', { class: 'notice error', role: 'alert' },
    h('p', null, error.message),
    error.id ? h('p', { class: 'detail' }, 'Request ID: ', h('code', null, error.id)) : null,
    retry ? h('button', { type: 'button', onclick: retry }, 'Try again') : null);
}

/** The pages are in English: so are their dates, in the user's kind of English if there is one. */
export const locale = navigator.languages.find((language) => /^en\b/.test(language)) ?? 'en-GB';
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const units = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]];

/** The time zone of the browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const zoneKey = 'time-zone';
let timeZone = window.localStorage.getItem(zoneKey) === 'UTC' ? 'UTC' : ownZone;

/** Reports whether pages show times in UTC, and not in the time zone of the browser. */
export const isUTC = () => timeZone === 'UTC';

/** Chooses UTC or the time zone of the browser, for all pages. The browser keeps the choice. */
export function showUTC(on) {
  timeZone = on ? 'UTC' : ownZone;
  if (on) window.localStorage.setItem(zoneKey, 'UTC');
  else window.localStorage.removeItem(zoneKey);
}

/** A date-time in the time zone of the pages. `options` are those of `Intl.DateTimeFormat`. */
export const formatTime = (value, options) => new Date(value).toLocaleString(locale, { ...options, timeZone });

/** The number of a calendar day in the time zone of the pages: that of the day after it is greater by 1. */
function dayNumber(value) {
  const [year, month, day] = isoDay(value).split('-');
  return Date.UTC(year, month - 1, day) / 86_400_000;
}

/** A calendar day in the time zone of the pages, such as "2026-11-22". */
export const isoDay = (value) => new Date(value).toLocaleDateString('en-CA', { timeZone });

/** Returns the number of calendar days from one date-time to another. */
export const daysBetween = (from, to) => dayNumber(to) - dayNumber(from);

/** Returns a date such as "in 5 days", in English. */
export function relativeTime(date, now = new Date()) {
  const seconds = (date - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.round(seconds / size), unit);
}

/** Returns a date-time of the API such as "in 37 days", by the calendar. */
export const relativeDays = (value, now = new Date()) => relative.format(daysBetween(now, value), 'day');

/** How long ago a date-time of the API is, in days, and its date. */
export function age(value, now = Date.now()) {
  const days = Math.max(0, Math.floor((now - new Date(value)) / 86_400_000));
  return h('time', { datetime: value, title: exactTime(value) },
    h('span', null, days === 0 ? 'Today' : counted(days, 'day')), h('small', null, shortDate(value)));
}

/** The date of a date-time of the API. */
export const shortDate = (value) => unbroken(formatTime(value, { dateStyle: 'medium' }));

/** The time of day of a date-time of the API. */
export const timeOfDay = (value) => unbroken(formatTime(value, { timeStyle: 'short' }));

/** A date-time of the API in one line, such as "Today, 14:02" or "24 Nov, 14:02". Of another year, it is only the date. */
export function shortTime(value, now = new Date()) {
  const days = daysBetween(value, now);
  if (days === 0) return `Today, ${timeOfDay(value)}`;
  if (days === 1) return `Yesterday, ${timeOfDay(value)}`;
  if (formatTime(value, { year: 'numeric' }) !== formatTime(now, { year: 'numeric' })) return shortDate(value);
  return `${unbroken(formatTime(value, { day: 'numeric', month: 'short' }))}, ${timeOfDay(value)}`;
}

/** A date-time of the API in the time zone of the pages, and in UTC: for the title of a shorter one. */
export function exactTime(value) {
  const utc = `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return isUTC() ? utc : `${shortDate(value)}, ${timeOfDay(value)} (${utc})`;
}

/** A text that stays in one line. */
const unbroken = (value) => value.replaceAll(' ', '\u00a0');

/** A date-time of the API as two lines: relative and exact. */
export const time = (value) => h('time', { datetime: value, title: exactTime(value) },
  h('span', null, relativeTime(new Date(value))), h('small', null, `${shortDate(value)}, ${timeOfDay(value)}`));
