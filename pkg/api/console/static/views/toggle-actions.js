// What can be done with one toggle or many: each action asks, says what it has done, and most can be undone.

import { call } from '../api.js';
import { counted, form, h, openDialog, relativeTime, replace, text } from '../dom.js';
import { togglePath } from '../toggle.js';

const most = 50; // toggles in one request that marks them
const atOnce = 6; // requests
const shownNames = 10;

/** The actions, with the toggles that they apply to. */
export const actions = {
  stale: {
    label: 'Mark as stale', past: 'marked as stale', undo: 'unmark', permission: 'UPDATE_FEATURE',
    applies: ({ stale, archived }) => !stale && !archived,
    explain: 'A person has decided that they are to be removed. They are no longer potentially stale.',
    groups: (toggles) => marks(toggles, true),
  },
  unmark: {
    label: 'Not stale', past: 'no longer marked as stale', undo: 'stale', permission: 'UPDATE_FEATURE',
    applies: ({ stale, archived }) => stale && !archived,
    explain: 'They are active again, or potentially stale if they are older than the lifetime of their type.',
    groups: (toggles) => marks(toggles, false),
  },
  archive: {
    label: 'Archive', past: 'archived', undo: 'revive', permission: 'DELETE_FEATURE', danger: true,
    applies: ({ archived }) => !archived,
    explain: 'Archived toggles can be revived.',
    groups: (toggles) => toggles.map((toggle) => ({ toggles: [toggle], send: () => call('DELETE', togglePath(toggle)) })),
  },
  revive: {
    label: 'Revive', past: 'revived', undo: 'archive', permission: 'UPDATE_FEATURE',
    applies: ({ archived }) => archived,
    explain: 'They are in the list of toggles again.',
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle], send: () => call('POST', `/api/admin/archive/revive/${encodeURIComponent(toggle.name)}`),
    })),
  },
  delete: {
    label: 'Delete', past: 'deleted', permission: 'DELETE_FEATURE', danger: true,
    applies: ({ archived }) => archived,
    explain: 'This cannot be undone. Only the event log keeps what they were.',
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle], send: () => call('DELETE', `/api/admin/archive/${encodeURIComponent(toggle.name)}`),
    })),
  },
};

/** One request for up to 50 toggles of a project. */
function marks(toggles, stale) {
  const groups = [];
  for (const [project, all] of Map.groupBy(toggles, (toggle) => toggle.project)) {
    for (let i = 0; i < all.length; i += most) {
      const some = all.slice(i, i + most);
      groups.push({
        toggles: some,
        send: async () => {
          if (toggles.length === 1) await checkArchived(some[0]);
          await call('POST', `/api/admin/projects/${encodeURIComponent(project)}/stale`, { features: some.map(({ name }) => name), stale });
        },
      });
    }
  }
  return groups;
}

/** Throws an error if someone has archived a toggle since it was shown: the API marks archived toggles, too. */
async function checkArchived(toggle) {
  const { archived } = await call('GET', togglePath(toggle));
  if (!archived) return;
  const query = new URLSearchParams({ feature: `IS:${toggle.name}`, type: 'IS:feature-archived', limit: 1 });
  const { events: [event] } = await call('GET', `/api/admin/search/events?${query}`);
  throw new Error(event ? `It was archived by ${event.createdBy} (${relativeTime(new Date(event.createdAt))}).` : 'It was archived meanwhile.');
}

/**
 * Performs an action on toggles, a few requests at a time.
 * @returns {Promise<{done: Array, failed: Array<{toggle, error}>}>}
 */
async function perform(action, toggles, progress) {
  const groups = action.groups(toggles);
  const done = [];
  const failed = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let group = groups.shift(); group; group = groups.shift()) {
      try {
        await group.send();
        done.push(...group.toggles);
      } catch (error) {
        if (error.status === 401) throw error;
        failed.push(...group.toggles.map((toggle) => ({ toggle, error })));
      }
      progress(done.length + failed.length);
    }
  }));
  return { done, failed };
}

/** Names in a sentence, of which only some are shown. */
function listed(toggles) {
  return h('ul', { class: 'values' }, toggles.slice(0, shownNames).map(({ name }) => h('li', null, text(name))),
    toggles.length > shownNames && h('li', null, `and ${(toggles.length - shownNames).toLocaleString('en')} more`));
}

/**
 * Asks, and performs an action.
 * @param {(action: Object, done: Array, failed: Array) => void} changed called when at least one toggle has changed
 */
export function openAction(action, toggles, changed) {
  const state = h('p', { class: 'detail', role: 'status' });
  const what = toggles.length === 1 ? 'toggle' : counted(toggles.length, 'toggle');
  const dialog = openDialog(`${action.label}: ${what}?`, () => [
    listed(toggles),
    h('p', null, action.explain),
    form({
      submit: action.label, busy: 'Working…', danger: action.danger, cancel: () => dialog.close(), send,
    }, state),
  ]);

  async function send() {
    const { done, failed } = await perform(action, toggles, (count) => {
      if (toggles.length > 1) state.textContent = `${count.toLocaleString('en')} of ${toggles.length.toLocaleString('en')}`;
    });
    if (failed.length === 0) {
      dialog.close();
      changed(action, done, []);
      return;
    }
    const close = h('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'Close');
    replace(dialog,
      h('h2', { id: dialog.getAttribute('aria-labelledby') }, `${counted(failed.length, 'toggle')} could not be changed`),
      h('p', null, `${counted(done.length, 'toggle')} ${action.past}.`),
      h('ul', { class: 'failures' }, failed.slice(0, shownNames).map(({ toggle, error }) => h('li', null, text(toggle.name), ': ', error.message,
        error.id && h('small', null, ' Request ID: ', h('code', null, error.id)))),
      failed.length > shownNames && h('li', null, `and ${failed.length - shownNames} more`)),
      h('div', { class: 'buttons' }, close));
    dialog.addEventListener('close', () => changed(action, done, failed.map(({ toggle }) => toggle)));
    close.focus();
  }
}

/** Says what an action has done, and offers to undo it. */
export function undoNotice(action, done, changed) {
  const inverse = actions[action.undo];
  if (!inverse || done.length === 0) return null;
  const problem = h('p', { class: 'error', role: 'alert' });
  return h('div', { class: 'notice undo' }, h('p', null, `${counted(done.length, 'toggle')} ${action.past}.`), problem,
    h('button', { type: 'button', onclick: undo }, 'Undo'));

  async function undo(event) {
    const button = event.currentTarget;
    if (button.hasAttribute('aria-disabled')) return;
    button.setAttribute('aria-disabled', 'true');
    const { done: undone, failed } = await perform(inverse, done, () => {});
    if (failed.length > 0) {
      button.removeAttribute('aria-disabled');
      problem.textContent = `${failed[0].toggle.name}: ${failed[0].error.message}`;
    }
    if (undone.length > 0 && failed.length === 0) changed({ ...inverse, undo: null }, undone, []);
  }
}
