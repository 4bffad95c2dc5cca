// What was entered in dialogs and editors, and not saved. The tab keeps it: Back, a reload or the end of the session does not lose it.

import { openDialog } from './dialog.js';
import { draftStorage } from './session.js';
import { html } from './template.js';

/** Whose drafts are written: the id of the user, null for an API token. */
let owner = null;
/** The draft of the page that is being shown, until its dialog or editor has it. */
let resumed = null;

const all = () => JSON.parse(draftStorage.get()) ?? [];
const isAbout = ({ kind, about }) => (draft) => draft.kind === kind && JSON.stringify(draft.about) === JSON.stringify(about);

/** Keeps a draft, in the place of an earlier one of the same dialog or editor. */
function put(draft) {
  draftStorage.set(JSON.stringify([...all().filter((other) => !isAbout(draft)(other)), { ...draft, owner }]));
}

/** Removes a draft. */
export function discard(draft) {
  const left = all().filter((other) => !isAbout(draft)(other));
  if (left.length > 0) draftStorage.set(JSON.stringify(left));
  else draftStorage.remove();
}

/**
 * Begins a page, which takes its own draft: a dialog opens again, see `draftFor`. The drafts of another user are discarded.
 * @returns {{own?: Object, other?: Object}} the draft of the page, and the newest one of another page
 */
export function draftsOf(caller) {
  owner = caller.user?.id ?? null;
  const drafts = all();
  if (drafts.some((draft) => draft.owner !== owner)) draftStorage.remove();
  const mine = drafts.filter((draft) => draft.owner === owner);
  const isHere = ({ page }) => page === window.location.hash;
  resumed = mine.findLast(isHere) ?? null;
  return { own: resumed ?? undefined, other: mine.findLast((draft) => !isHere(draft)) };
}

/** Returns what the draft of the page is about, if it is of the kind, otherwise undefined. */
export const draftFor = (kind) => (resumed?.kind === kind ? resumed.about : undefined);

/** Takes what was entered before in a dialog or editor. Returns undefined if that is nothing. */
function takeDraft(draft) {
  const isIt = isAbout(draft);
  if (resumed && isIt(resumed)) resumed = null;
  return all().find(isIt)?.values;
}

/**
 * Keeps what is entered in a dialog.
 * @param {HTMLDialogElement} dialog
 * @param {{kind: string, about: unknown, title: string, read: () => unknown, write: (values: unknown) => void}} draft `kind` and `about`
 *   name the dialog for `draftFor`; `read` returns what was entered, and `write` enters it
 * @returns {{leave: () => void, done: () => void, end: () => void}} `leave` closes the dialog, after a question if there are changes; `end`
 *   keeps nothing any more; `done` also closes the dialog
 */
export function keepDraft(dialog, { kind, about, title, read: entered, write }) {
  const before = JSON.stringify(entered());
  const values = takeDraft({ kind, about });
  if (values !== undefined) write(values);
  const isChanged = () => JSON.stringify(entered()) !== before;
  const page = window.location.hash;
  for (const type of ['input', 'click']) dialog.addEventListener(type, keep);
  let ended = false;
  return {
    leave: () => (isChanged() ? confirmLeaving(done) : done()),
    done,
    end,
  };

  function keep() {
    if (!dialog.open || ended) return;
    if (isChanged()) put({ page, kind, about, title, values: entered() });
    else discard({ kind, about });
  }

  function end() {
    ended = true;
    discard({ kind, about });
  }

  function done() {
    end();
    dialog.close();
  }
}

const property = (control) => (control.type === 'checkbox' ? 'checked' : 'value');

/** Returns a function that enters a value into the control with a name, see `mergeForm` of conflict.js. */
export const writer = (controls) => (name, value) => {
  const control = controls[name];
  if (control) control[property(control)] = value ?? '';
};

/** Keeps what is entered in the controls of a dialog, see `keepDraft`. */
export function keepControls(dialog, controls, draft) {
  const entered = () => Object.fromEntries(Object.entries(controls).map(([name, control]) => [name, control[property(control)]]));
  return keepDraft(dialog, {
    ...draft,
    read: entered,
    write: (values) => {
      for (const [name, control] of Object.entries(controls)) {
        control[property(control)] = values[name];
        control.dispatchEvent(new Event('change'));
      }
    },
  });
}

/**
 * Keeps what is entered on a page that edits something, see `keepDraft`.
 * @returns {{values: any, keep: (values: unknown) => void, end: () => void}} `values` were entered before
 */
export function keepPage({ kind, about, title }) {
  const page = window.location.hash;
  return {
    values: takeDraft({ kind, about }),
    keep: (values) => put({ page, kind, about, title, values, isPage: true }),
    end: () => discard({ kind, about }),
  };
}

function confirmLeaving(leave) {
  const question = openDialog('Discard your changes?', () => html`
    <p>What you entered has not been saved.</p>
    <div class="buttons">
      <button type="button" class="danger" @click=${() => { question.close(); leave(); }}>Discard changes</button>
      <button type="button" @click=${() => question.close()}>Keep editing</button></div>`);
}
