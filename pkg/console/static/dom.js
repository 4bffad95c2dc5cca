// Elements of the pages. Text from the API becomes text nodes, never markup.

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
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A number with a bar, which is only decoration. `part` is its length, from 0 to 1. */
export function withBar(number, part) {
  const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
  bar.style.setProperty('--part', part);
  return h('span', { class: 'usage' }, h('span', null, number), bar);
}

/** Text from the API in a sentence: its direction does not affect the text around it. */
export const text = (value) => h('bdi', null, value);

/**
 * A table that becomes a list of cards on narrow screens. The roles keep it a table for screen readers when CSS changes its display.
 * @param {string} caption the table's name for screen readers
 * @param {Array<string|{name: string, class: string}>} columns the class is for all cells of the column
 * @param {HTMLTableRowElement[]} rows see `row`
 */
export function table(caption, columns, rows) {
  return h('table', { role: 'table' },
    h('caption', { class: 'visually-hidden' }, caption),
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, columns.map((column) =>
      h('th', { role: 'columnheader', scope: 'col', class: column.class }, column.name ?? column)))),
    h('tbody', { role: 'rowgroup' }, rows));
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
 */
export function field(label, control, hint) {
  control.id ||= uniqueId();
  const hintId = `${control.id}-hint`;
  if (hint) control.setAttribute('aria-describedby', hintId);
  return h('div', { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    hint ? h('p', { class: 'hint', id: hintId }, hint) : null);
}

/** Shows an error next to a control, or removes it if the message is empty. */
export function setError(control, message) {
  const id = `${control.id}-error`;
  document.getElementById(id)?.remove();
  const ids = (control.getAttribute('aria-describedby') ?? '').split(' ').filter((other) => other && other !== id);
  if (message) {
    control.closest('.field').append(h('p', { class: 'error', id }, message));
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
 * name (a FieldError, or an ApiError with the pointers `/body/<name>` or `/query/<name>`), otherwise above the buttons.
 * @param {Object<string, unknown>} props attributes of the form, and
 *   `send` {() => Promise<void>}, `submit` the text of the submit button, `busy` its text while `send` runs, `danger` for a red button,
 *   `cancel` {() => void} adds a cancel button
 */
export function form({ send, submit, busy, danger, cancel, ...props }, ...children) {
  const problem = h('p', { class: 'error', role: 'alert' });
  const button = h('button', { class: danger ? 'danger' : 'primary', type: 'submit' }, submit);
  const element = h('form', { novalidate: true, onsubmit: listen, ...props }, children, problem,
    h('div', { class: 'buttons' }, button, cancel ? h('button', { type: 'button', onclick: () => cancel() }, 'Cancel') : null));
  let running = false;

  async function listen(event) {
    event.preventDefault();
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true'); // unlike `disabled`, it keeps the focus
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
      button.textContent = submit;
    }
  }

  function show(error) {
    const messages = error.field ? [{ name: error.field, message: error.message }] : sentences(error);
    for (const control of element.elements) {
      const found = control.name ? messages.filter(({ name }) => name === control.name) : [];
      if (found.length === 0) continue;
      // Next to the control, its pointer says nothing.
      setError(control, found.map(({ message }) => message.replace(/^The `[^`]*` (?:property|parameter) /, 'The value ')).join(' '));
      for (const item of found) messages.splice(messages.indexOf(item), 1);
    }
    problem.textContent = messages.map(({ message }) => message).join(' ');
    if (error.status >= 500) problem.append(` Request ID: ${error.id}`);
    element.querySelector('[aria-invalid]')?.focus();
  }

  return element;
}

/** Splits the message of a rejected request by the property or parameter that each sentence names. */
function sentences({ status, message }) {
  const found = status === 400 ? message.split(/ (?=The `\/(?:body|query)\/)/) : [message];
  return found.map((sentence) => ({ name: /^The `\/(?:body|query)\/([^`]*)`/.exec(sentence)?.[1], message: sentence }));
}

/**
 * Opens a modal dialog. Escape closes it, a click outside does not. The focus returns to where it was.
 * @param {string} title
 * @param {(dialog: HTMLDialogElement) => Array} content its children
 * @param {() => void} [closed] called after it was closed
 */
export function openDialog(title, content, closed) {
  const heading = h('h2', { id: uniqueId(), tabindex: '-1' }, title);
  const dialog = h('dialog', { 'aria-labelledby': heading.id, onclose: () => { dialog.remove(); closed?.(); } }, heading);
  dialog.append(...content(dialog));
  document.querySelector('main').append(dialog); // a change of the page removes it
  dialog.showModal();
  return dialog;
}

/** Says that something is loading. */
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

/** Shows why something could not be loaded, with the ID of the request, and a button that repeats it. */
export function failure(error, retry) {
  return h('div', { class: 'notice error', role: 'alert' },
    h('p', null, error.message),
    error.id ? h('p', { class: 'detail' }, 'Request ID: ', h('code', null, error.id)) : null,
    retry ? h('button', { type: 'button', onclick: retry }, 'Try again') : null);
}

const locale = new Intl.DateTimeFormat().resolvedOptions().locale;
const dateTime = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const units = [['year', 31_536_000], ['month', 2_592_000], ['day', 86_400], ['hour', 3600], ['minute', 60], ['second', 1]];

/** Returns a date such as "in 5 days", in the user's locale. */
export function relativeTime(date, now = new Date()) {
  const seconds = (date - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return relative.format(Math.round(seconds / size), unit);
}

/** A date-time of the API as two lines: relative and exact, in the user's locale and time zone. */
export function time(value) {
  const date = new Date(value);
  return h('time', { datetime: value, lang: locale },
    h('span', null, relativeTime(date)), h('small', null, dateTime.format(date)));
}
