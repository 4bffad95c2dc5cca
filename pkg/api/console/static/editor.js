// Pages that edit a resource of the API: they keep what is entered, save it, and merge it with what someone else has changed meanwhile.

import { call, read } from './api.js';
import { settled } from './combobox.js';
import { conflictNotice, isChanged, save } from './conflict.js';
import { dividedError } from './dialog.js';
import { focusOn } from './dom.js';
import { keepPage } from './draft.js';
import { inline } from './event-words.js';
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
 *   that saves it. That one reports whether it is saved: somebody else can have changed it. What was changed before is merged before it asks
 * @param {() => Promise<string|undefined>} [options.author] finds out who has changed it meanwhile
 * @param {() => void} options.draw shows the page, after each change
 * @param {(body: Object) => void} options.saved called after the API has saved it
 * @param {AbortSignal} options.signal of the page
 */
export function editResource({ path, to = path, opened, initial, draft: about, labels, toDraft, toBody, controlOf, say, confirm, author, draw, saved, signal }) {
  const draft = keepPage({ ...about, about: to });
  const begun = draft.values?.opened ?? opened; // someone may have changed it since the draft was begun
  const state = {
    opened: begun, // what the editor began with, and its entity tag
    values: toDraft(draft.values?.values ?? begun?.content ?? initial),
    errors: {}, // messages by control
    problem: '', // what no control shows
    requestId: undefined, // of the problem
    busy: false,
    conflict: null, // what someone else has changed, see `conflictNotice`
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
    if (!await settled(event.target?.closest('form') ?? document)) {
      state.busy = false;
      return;
    }
    await attempt(async () => {
      if (!confirm) await send();
      else if (!await isOutdated()) await confirm(send);
    });
  }

  /** Reports whether someone else has changed it since it was opened, and merges that: nobody confirms what cannot be saved. */
  async function isOutdated() {
    if (!state.opened) return false;
    const now = await read(path, { signal });
    if (now.etag !== null && now.etag === state.opened.etag || !isChanged(state.opened, now, labels)) return false;
    await mergeWith(body(), now);
    return true;
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
      await mergeWith(mine, now);
      return false;
    }
    draft.end();
    saved(mine);
    return true;
  }

  /** Takes over what someone else has changed, and says so. */
  async function mergeWith(mine, now) {
    const [before, theirs] = [state.opened, now].map(({ content }) => toBody(toDraft(content)));
    const { merged, taken, both } = merge(before, mine, theirs, Object.keys(labels));
    const by = await author?.().catch(() => undefined);
    Object.assign(state, { opened: now, values: toDraft(merged), conflict: { before, theirs, taken, both, taking: new Set(), by, now: now.content } });
  }

  /**
   * What someone else has changed since the editor was opened.
   * @param {(name: string, value: any) => string|undefined} [inWords] says a value of the body in another way
   */
  function conflict(inWords = () => undefined) {
    if (!state.conflict) return nothing;
    const isObject = (value) => typeof value === 'object' && value !== null;
    return html`<div class="notice warn" role="alert">${conflictNotice({
      ...state.conflict, labels, take: takeTheirs, say: (name, value) => inWords(name, value) ?? (isObject(value) ? inline(value) : undefined),
    })}</div>`;
  }

  function takeTheirs(name) {
    state.conflict.taking.add(name);
    set({ [name]: toDraft(state.conflict.now)[name] });
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
