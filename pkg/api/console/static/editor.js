// Pages that edit a resource of the API: they keep what is entered, save it, and merge it with what someone else has changed meanwhile.

import { call } from './api.js';
import { dividedError } from './dialog.js';
import { focusOn } from './dom.js';
import { keepPage, save } from './draft.js';
import { merge } from './merge.js';
import { html, live, nothing } from './template.js';

/**
 * Begins to edit a resource.
 * @param {Object} options
 * @param {string} options.path where a new resource is created, or where the resource is
 * @param {string} [options.to] where it is saved, if that is another path
 * @param {{content: Object, etag: string|null}} [options.opened] the resource; undefined: a new one
 * @param {Object} [options.initial] the content of a new resource
 * @param {{kind: string, title: string}} options.draft see `keepPage`
 * @param {Object<string, string>} options.labels of the properties that the page edits
 * @param {(content: Object) => Object} options.toDraft makes what the page edits of the content of a resource
 * @param {(draft: Object) => Object} options.toBody makes the body of a request of it
 * @param {(place: string) => string|undefined} options.controlOf see `dividedError`
 * @param {(detail: import('./messages.js').Detail) => string} [options.say] see `dividedError`
 * @param {(saving: (write?: typeof call) => Promise<boolean>) => Promise<unknown>} [options.confirm] asks before it is saved, and calls the function
 *   that saves it. That one reports whether it is saved: somebody else can have changed it
 * @param {() => void} options.draw shows the page, after each change
 * @param {(body: Object) => void} options.saved called after the API has saved it
 * @param {AbortSignal} options.signal of the page
 */
export function editResource({ path, to = path, opened, initial, draft: about, labels, toDraft, toBody, controlOf, say, confirm = (saving) => saving(), draw, saved, signal }) {
  const draft = keepPage({ ...about, about: to });
  const begun = draft.values?.opened ?? opened; // someone may have changed it since the draft was begun
  const state = {
    opened: begun, // what the editor began with, and its entity tag
    values: toDraft(draft.values?.values ?? begun?.content ?? initial),
    errors: {}, // messages by control
    problem: '', // what no control shows
    requestId: undefined, // of the problem
    busy: false,
    conflict: null, // {now, taken, both}: what someone else has changed
  };
  const unchanged = JSON.stringify(toBody(toDraft(begun?.content ?? initial)));
  return { state, signal, body, set, submit, attempt, cancel: draft.end, error, constraintErrors, input, conflict, problem, saveButton };

  /** What the API would get. */
  function body() {
    return toBody(state.values);
  }

  /** Changes properties of what is edited. */
  function set(changes) {
    state.values = { ...state.values, ...changes };
    if (JSON.stringify(body()) === unchanged) draft.end();
    else draft.keep({ opened: state.opened, values: state.values });
    draw();
  }

  /** Saves it: the listener of the form. */
  async function submit(event) {
    event.preventDefault();
    if (state.busy) return;
    state.busy = true;
    await attempt(() => confirm(send));
  }

  /** Sends what was entered. What the API rejects is shown at the controls. */
  async function attempt(action) {
    Object.assign(state, { problem: '', requestId: undefined, errors: {} });
    draw();
    try {
      await action();
    } catch (failure) {
      if (signal.aborted) return;
      const { byControl, rest } = dividedError(failure, controlOf, say);
      Object.assign(state, { errors: byControl, problem: rest, requestId: rest && failure.id });
    }
    state.busy = false;
    draw();
    focusOn('main [aria-invalid]');
  }

  async function send(write = call) {
    const mine = body();
    let now; // what someone else has changed meanwhile
    if (state.opened) ({ now } = await save(path, mine, state.opened, labels, to, write));
    else await write('POST', path, mine);
    if (now) {
      const [before, theirs] = [state.opened, now].map(({ content }) => toBody(toDraft(content)));
      const { merged, taken, both } = merge(before, mine, theirs, Object.keys(labels));
      Object.assign(state, { opened: now, values: toDraft(merged), conflict: { now: now.content, taken, both } });
      return false;
    }
    draft.end();
    saved(mine);
    return true;
  }

  /**
   * What someone else has changed since the editor was opened.
   * @param {(now: Object) => unknown} [inWords] says what the resource is now
   */
  function conflict(inWords) {
    if (!state.conflict) return nothing;
    const { now, taken, both } = state.conflict;
    return html`<div class="notice warn" role="alert">
      <p><strong>Someone has changed it since you opened it.</strong> Nothing was saved, and your input is still here.</p>
      ${taken.length > 0 ? html`<p>Taken over, because you have not changed it: ${taken.map((name) => labels[name]).join(', ')}.</p>` : nothing}
      ${both.length > 0 ? html`<ul>${both.map((name) => html`<li>${labels[name]} was changed by both.
        <button type="button" @click=${() => takeTheirs(name)}>Take theirs</button></li>`)}</ul>` : nothing}
      <p>${inWords ? html`Now it is: <bdi>${inWords(now)}</bdi>. ` : nothing}Save again to replace it with what this page shows.</p></div>`;
  }

  function takeTheirs(name) {
    const { now, both } = state.conflict;
    state.conflict.both = both.filter((other) => other !== name);
    set({ [name]: toDraft(now)[name] });
  }

  /** The error of a control. */
  function error(name) {
    return state.errors[name] ? html`<p class="error" id="${name}-error">${state.errors[name]}</p>` : nothing;
  }

  /** The errors of constraints by their index, for the editor of constraints. Their controls are `constraint INDEX`. */
  function constraintErrors() {
    const prefix = 'constraint ';
    return Object.fromEntries(Object.entries(state.errors).filter(([name]) => name.startsWith(prefix))
      .map(([name, message]) => [name.slice(prefix.length), message]));
  }

  /**
   * An input with its label, its hint and its error.
   * @param {{name: string, label: string, value: string, hint?: string, disabled?: boolean, change: (value: string) => void}} options
   */
  function input({ name, label, value, hint, disabled = false, change }) {
    const message = state.errors[name];
    const described = [message && `${name}-error`, hint && `${name}-hint`].filter(Boolean).join(' ');
    return html`<div class="field"><label for=${name}>${label}</label>
      <input id=${name} name=${name} autocomplete="off" spellcheck="false" dir="auto" ?disabled=${disabled} aria-invalid=${message ? 'true' : nothing}
        aria-describedby=${described || nothing} .value=${live(value)} @input=${({ target }) => change(target.value)}>
      ${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing}${error(name)}</div>`;
  }

  /** What no control shows of an error. */
  function problem() {
    return html`<p class="error" role="alert">${state.problem}${
      state.requestId ? html` <small>Request ID: <code>${state.requestId}</code></small>` : nothing}</p>`;
  }

  /** The button that saves it. */
  function saveButton(label) {
    const waits = state.busy ? 'true' : nothing;
    return html`<button type="submit" class="primary" aria-disabled=${waits} aria-busy=${waits}>${state.busy ? 'Saving…' : label}</button>`;
  }
}

/**
 * Goes to another page, and says there what has happened. A change of the page removes messages.
 * @param {string} address another one than that of the page
 * @param {() => void} say
 */
export function leaveFor(address, say) {
  window.addEventListener('hashchange', say, { once: true });
  window.location.hash = address;
}
