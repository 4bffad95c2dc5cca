// Dialogs, and the forms in them.

import { settled } from './combobox.js';
import { failure, loading, setError, uniqueId } from './dom.js';
import { inWords, placeOf, wrongName } from './messages.js';
import { element, html, nothing, render } from './template.js';

/**
 * A labelled control with an optional hint and a place for its error.
 * @param {unknown} label
 * @param {HTMLInputElement|HTMLTextAreaElement|HTMLSelectElement} control has a `name`
 * @param {unknown} [hint]
 * @param {Element} [shown] the element that contains the control, and is shown instead of it
 */
export function field(label, control, hint, shown = control) {
  control.id ||= uniqueId();
  const hintId = `${control.id}-hint`;
  if (hint) control.setAttribute('aria-describedby', hintId);
  return html`<div class="field"><label for=${control.id}>${label}</label>${shown}${hint ? html`<p class="hint" id=${hintId}>${hint}</p>` : nothing}</div>`;
}

/** An error of one control, thrown by the `send` function of `form`. */
export class FieldError extends Error {
  /** @param {string} name that of the control */
  constructor(name, message) {
    super(message);
    this.field = name;
  }
}

/** Throws a FieldError of the control `name` unless a toggle, a context field or an environment can have the name. */
export function checkName(name) {
  if (name === '') throw new FieldError('name', 'Enter a name.');
  if (/[^\w.~-]/.test(name)) throw new FieldError('name', wrongName(name));
}

/**
 * A form that calls `send` once at a time. While `send` runs, the submit button says so. Its errors appear next to the controls that they
 * name (a FieldError, or the details of an ApiError), otherwise above the buttons. The event `refused` with an error as its detail shows the
 * error too.
 * @param {Object} options
 * @param {() => Promise<void>} options.send
 * @param {string} options.submit the text of the submit button
 * @param {string} options.busy its text while `send` runs
 * @param {boolean} [options.danger] for a red button
 * @param {() => void} [options.cancel] adds a cancel button
 * @param {...unknown} children templates, and what else a template can contain
 */
export function form({ send, submit, busy, danger, cancel }, ...children) {
  const problem = element(html`<p class="error" role="alert"></p>`);
  const button = element(html`<button class=${danger ? 'danger' : 'primary'} type="submit"></button>`);
  const place = element(html`<form novalidate @submit=${listen} @refused=${({ detail }) => show(detail)}>${children}${problem}<div class="buttons">${button}${
    cancel ? html`<button type="button" @click=${() => cancel()}>Cancel</button>` : nothing}</div></form>`);
  button.textContent = submit;
  let running = false;
  return place;

  async function listen(event) {
    event.preventDefault();
    if (running) return;
    running = true;
    button.setAttribute('aria-disabled', 'true'); // unlike `disabled`, it keeps the focus
    button.setAttribute('aria-busy', 'true');
    button.textContent = busy;
    render(nothing, problem);
    for (const control of place.elements) if (control.name) setError(control, '');
    try {
      if (await settled(place)) await send();
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
    const names = Array.from(place.elements, ({ name }) => name);
    const { byControl, rest } = dividedError(error, (path) => names.find((name) => name && (name === path || path.startsWith(`${name}/`))));
    for (const control of place.elements) if (byControl[control.name]) setError(control, byControl[control.name]);
    render(html`${rest}${error.id && rest ? html` <small>Request ID: <code>${error.id}</code></small>` : nothing}`, problem);
    place.querySelector('[aria-invalid]')?.focus();
  }
}

/**
 * Divides an error by the controls of a form or a page.
 * @param {Error & {field?: string, details?: import('./messages.js').Detail[]}} error a FieldError, an ApiError or another error
 * @param {(place: string) => string|undefined} controlOf names the control for a place in the request, such as `constraints/0/values/1`
 * @param {(detail: import('./messages.js').Detail) => string} [say] says a detail in the words of the page
 * @returns {{byControl: Object<string, string>, rest: string}} `rest` is what no control shows
 */
export function dividedError(error, controlOf, say = inWords) {
  if (error.field) return { byControl: { [error.field]: error.message }, rest: '' };
  const byControl = {};
  const rest = [];
  for (const detail of error.details ?? []) {
    const place = placeOf(detail);
    const control = controlOf(place);
    if (control === undefined) rest.push(place === '' ? detail.message : `${place}: ${say(detail)}`);
    else byControl[control] = [byControl[control], say(detail)].filter(Boolean).join(' ');
  }
  return { byControl, rest: Object.keys(byControl).length === 0 ? error.message : rest.join(' ') };
}

/**
 * Opens a modal dialog. Escape closes it, a click outside does not. The focus returns to where it was.
 * @param {unknown} title
 * @param {() => unknown} content what it contains. It may use the result of this function when something is pressed
 * @param {() => void} [closed] called after it was closed
 * @param {() => void} [leave] called instead of closing it when Escape is pressed
 * @returns {HTMLDialogElement}
 */
export function openDialog(title, content, closed, leave) {
  const dialog = element(html`<dialog aria-labelledby=${uniqueId()} @close=${() => { dialog.remove(); closed?.(); }}
    @cancel=${(event) => leave && event.target === dialog && event.preventDefault()} @keydown=${leave && onKey}></dialog>`);
  showIn(dialog, title, content());
  document.querySelector('main').append(dialog); // a change of the page removes it
  dialog.showModal();
  return dialog;

  function onKey(event) {
    // The browser closes a dialog at the second `cancel` event, whatever the first one's listener did.
    if (event.key !== 'Escape' || event.target.closest('dialog') !== dialog) return;
    event.preventDefault();
    leave();
  }
}

/**
 * Opens a dialog that says what its action changes, which has to be loaded first. Until then, the dialog says so, and nothing can be confirmed.
 * @template T
 * @param {unknown} title
 * @param {string} what is loaded, in words
 * @param {(signal: AbortSignal) => Promise<T>} load
 * @param {(facts: T, close: () => void) => unknown} content
 */
export function openLoadedDialog(title, what, load, content) {
  const controller = new AbortController();
  const place = element(html`<div></div>`);
  const dialog = openDialog(title, () => place, () => controller.abort());
  const close = () => dialog.close();
  show();

  async function show() {
    const cancel = html`<div class="buttons"><button type="button" @click=${close}>Cancel</button></div>`;
    render([loading(what), cancel], place);
    try {
      render(content(await load(controller.signal), close), place);
    } catch (error) {
      if (!controller.signal.aborted) render([failure(error, show), cancel], place);
    }
  }
}

/** Shows a title and a content in a dialog. */
export const showIn = (dialog, title, content) => render(
  html`<h2 id=${dialog.getAttribute('aria-labelledby')} tabindex="-1">${title}</h2>${content}`, dialog);
