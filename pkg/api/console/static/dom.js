// Small elements and texts of all pages.

import { onReconnect } from './connection.js';
import { element, html, nothing } from './template.js';

let lastId = 0;

/** Returns an ID that is unique in the document. */
export function uniqueId() {
  lastId += 1;
  return `e${lastId}`;
}

/**
 * Moves the focus to the first element that a selector selects, if there is one.
 * @param {string} selector
 * @param {ParentNode} [place]
 * @param {FocusOptions} [options]
 */
export function focusOn(selector, place = document, options = undefined) {
  /** @type {HTMLElement|null} */ (place.querySelector(selector))?.focus(options);
}

/**
 * Text from the API in a sentence: its direction does not affect the text around it. A long name breaks after a point or an underscore, as it
 * does after a hyphen. The places where it may break are not part of the names of links and buttons.
 */
export const text = (value) => html`<bdi>${breakable(String(value))}</bdi>`;

/** A text in its parts, between which it may break. */
export const breakable = (value) => value.split(/(?<=[._])(?=\p{L})/u).map((part, i) => (i === 0 ? part : html`<wbr aria-hidden="true">${part}`));

/**
 * Buttons for the pages of a list that the page has loaded as a whole.
 * @param {string} label of the pages for screen readers
 * @param {number} total
 * @param {number} offset
 * @param {number} size
 * @param {(offset: number) => void} go shows the page that begins there
 */
export function pager(label, total, offset, size, go) {
  if (total <= size) return nothing;
  const to = (target, name) => html`<button type="button" @click=${() => go(target)}>${name}</button>`;
  return html`<nav class="months" aria-label=${label}>${offset > 0 ? to(Math.max(0, offset - size), '‹ Previous') : nothing}${
    offset + size < total ? to(offset + size, 'Next ›') : nothing}</nav>`;
}

/** The part of a list that is shown: "51–100 of 500 fields". */
export const range = (total, offset, size, ...names) => (total <= size ? counted(total, ...names)
  : `${(offset + 1).toLocaleString('en')}–${Math.min(total, offset + size).toLocaleString('en')} of ${counted(total, ...names)}`);

/** Shows an error next to a control, or removes it if the message is empty. */
export function setError(control, message) {
  control.id ||= uniqueId();
  const id = `${control.id}-error`;
  document.getElementById(id)?.remove();
  const ids = (control.getAttribute('aria-describedby') ?? '').split(' ').filter((other) => other && other !== id);
  if (message) {
    control.closest('.field, fieldset').append(element(html`<p class="error" id=${id}>${message}</p>`));
    ids.unshift(id);
    control.setAttribute('aria-invalid', 'true');
  } else control.removeAttribute('aria-invalid');
  if (ids.length > 0) control.setAttribute('aria-describedby', ids.join(' '));
  else control.removeAttribute('aria-describedby');
}

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
export const loading = (what) => html`<p class="loading" role="status">Loading ${what}…</p>`;

/** The address of the event log with filters, which have the names of the API's parameters. */
export function logAddress(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== undefined));
  return `#/events${query.size > 0 ? '?' : ''}${query}`.replaceAll('%3A', ':').replaceAll('%2C', ',');
}

/**
 * Shows why something could not be loaded, with the ID of the request, and a button that repeats it. Without a connection, which the bar of
 * connection.js shows, it is repeated as soon as there is one.
 * @param {Error & {id?: string}} error
 * @param {() => void} [retry]
 */
export function failure(error, retry) {
  if (error.name === 'NoConnection' && retry) {
    const place = element(html`<p class="empty">This appears when there is a connection again.</p>`);
    onReconnect(() => place.isConnected && retry());
    return place;
  }
  return html`<div class="notice error" role="alert">
    <p>${error.message}</p>
    ${error.id ? html`<p class="detail">Request ID: <code>${error.id}</code></p>` : nothing}
    ${retry ? html`<button type="button" @click=${retry}>Try again</button>` : nothing}</div>`;
}
