// What can be done with one toggle or many: each action asks, says what it has done, and most can be undone.

import { call } from '../api.js';
import { form, openDialog, showIn } from '../dialog.js';
import { counted, text } from '../dom.js';
import { environmentPath } from '../environment.js';
import { element, html, nothing } from '../template.js';
import { relativeTime } from '../time.js';
import { changedToggles, newestChange, togglePath } from '../toggle.js';
import { unusedDays } from '../usage-counts.js';
import { archiveWarning } from './archive-warning.js';

const most = 50; // toggles in one request that marks them
const mostSwitched = 30; // toggles in one request that turns them on or off
const atOnce = 6; // requests
const shownNames = 10;

/**
 * The actions, with the toggles that they apply to. `title` and `explain` are about one toggle or several, `warn` warns about some of them,
 * see `archiveWarning`, and `inverse` returns the action that reverses it exactly.
 */
export const actions = {
  stale: {
    label: 'Mark for removal', past: 'marked for removal', inverse: () => actions.unmark, permission: 'UPDATE_FEATURE',
    applies: ({ stale, archived }) => !stale && !archived,
    title: (what) => ['Mark ', what, ' for removal?'],
    explain: (one) => `${one ? 'It is' : 'They are'} to be removed, and no longer ${one ? 'counts' : 'count'} as overdue.`,
    groups: (toggles) => marks(toggles, true),
  },
  unmark: {
    label: 'Unmark', past: 'no longer marked for removal', inverse: () => actions.stale, permission: 'UPDATE_FEATURE',
    applies: ({ stale, archived }) => stale && !archived,
    title: (what) => ['Unmark ', what, '?'],
    explain: (one) => (one ? 'It is in use again, or overdue if it is older than the lifetime of its type.'
      : 'They are in use again, or overdue if they are older than the lifetime of their type.'),
    groups: (toggles) => marks(toggles, false),
  },
  archive: {
    label: 'Archive', past: 'archived', inverse: () => unarchive, permission: 'DELETE_FEATURE', danger: true,
    applies: ({ archived }) => !archived, warn: archiveWarning,
    title: (what) => ['Archive ', what, '?'],
    explain: (one) => `${one ? 'It' : 'They'} can be revived.`,
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle],
      async send() {
        await checkArchived(toggle);
        await call('DELETE', togglePath(toggle));
      },
    })),
  },
  revive: {
    label: 'Revive', past: 'revived', inverse: () => actions.archive, permission: 'UPDATE_FEATURE',
    applies: ({ archived }) => archived,
    title: (what) => ['Revive ', what, '?'],
    explain: (one) => `${one ? 'It is' : 'They are'} in the list of toggles again, and off in all environments.`,
    groups: (toggles) => toggles.map((toggle) => ({ toggles: [toggle], send: () => call('POST', revivePath(toggle)) })),
  },
  delete: {
    label: 'Delete', past: 'deleted', permission: 'DELETE_FEATURE', danger: true,
    applies: ({ archived }) => archived,
    title: (what) => ['Delete ', what, '?'],
    explain: (one) => `This cannot be undone. Only the event log keeps what ${one ? 'it was' : 'they were'}.`,
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle], send: () => call('DELETE', `/api/admin/archive/${encodeURIComponent(toggle.name)}`),
    })),
  },
};

/**
 * What an action on toggles needs in the project of the first one, see why.js.
 * @param {{permission: string, environment?: string, title: (what: string) => unknown[], to?: (what: string) => string}} action
 * @param {Array<{project: string, name: string}>} toggles
 */
export function needOf({ permission, environment, title, to }, toggles) {
  const what = toggles.length === 1 ? toggles[0].name : `${toggles.length.toLocaleString('en')} of these toggles`;
  const words = to?.(what) ?? title(what).join('').replace(/\?$/, '');
  return { permission, project: toggles[0].project, environment, to: words.replace(/^./, (first) => first.toLowerCase()) };
}

const restoring = () => import('../restore.js'); // the first view does not need it

const revivePath = ({ name }) => `/api/admin/archive/revive/${encodeURIComponent(name)}`;

/** The action that reverses archiving: toggles are on again where they were on when they were archived. */
export const unarchive = {
  label: 'Revive', past: 'revived as before', permission: 'UPDATE_FEATURE',
  applies: ({ archived }) => archived,
  title: (what) => ['Revive ', what, ' as before?'],
  explain: (one, [{ environments }]) => {
    const names = environments.filter(({ enabled }) => enabled).map(({ name }) => name);
    return names.length === 0 ? 'It was off in all environments.' : `It is on again in ${new Intl.ListFormat('en-GB').format(names)}.`;
  },
  groups: (toggles) => toggles.map((toggle) => ({ toggles: [toggle], send: () => call('POST', `${revivePath(toggle)}?keepEnabled=true`) })),
};

/** The action that turns toggles on or off in an environment. */
export function switchAction({ name }, on) {
  const change = on ? 'on' : 'off';
  const undos = new Map(); // by the names of toggles without an enabled strategy, to which turning on adds one
  const hasStrategy = ({ environments }) => environments.find((state) => state.name === name)?.hasEnabledStrategies;
  const together = (toggles, way) => batches(toggles, mostSwitched, (project, features) => call('POST',
    `/api/admin/projects/${encodeURIComponent(project)}/bulk_features/environments/${encodeURIComponent(name)}/${way}`, { features }));
  const alone = (toggles, send) => toggles.map((toggle) => ({ toggles: [toggle], send: () => send(toggle) }));

  return {
    label: `Turn ${change} in ${name}`, past: `turned ${change} in ${name}`, permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: name,
    applies: ({ archived, environments }) => !archived && environments.some((state) => state.name === name && state.enabled !== on),
    title: (what) => [`Turn ${change} `, what, ' in ', text(name), '?'],
    to: (what) => `turn ${change} ${what} in ${name}`,
    explain: (one) => (on ? `${one ? 'It is' : 'They are'} on for those that the strategies select, or for everyone without a strategy.`
      : `${one ? 'It is' : 'They are'} off for everyone. The strategies stay.`),
    groups: (toggles) => (on ? [...together(toggles.filter(hasStrategy), 'on'), ...alone(toggles.filter((toggle) => !hasStrategy(toggle)), turnOn)]
      : together(toggles, 'off')),
    inverse: () => ({
      past: `turned ${on ? 'off' : 'on'} in ${name}`,
      groups: (toggles) => (on ? [...together(toggles.filter((toggle) => !undos.has(toggle.name)), 'off'),
        ...alone(toggles.filter((toggle) => undos.has(toggle.name)), (toggle) => undos.get(toggle.name)())]
        : alone(toggles, async (toggle) => (await restoring()).turnOnAgain(toggle, name))),
    }),
  };

  async function turnOn(toggle) {
    const { undo } = await (await restoring()).reversibly(toggle, name, (etag) => call('POST', `${environmentPath(toggle, name)}/on`, undefined, { etag }));
    undos.set(toggle.name, undo ?? (() => Promise.reject(new Error('Its state could not be read.'))));
  }
}

/** Requests that mark toggles, or take the mark away. */
function marks(toggles, stale) {
  return batches(toggles, most, async (project, features) => {
    if (toggles.length === 1) await checkArchived(toggles[0]);
    await call('POST', `/api/admin/projects/${encodeURIComponent(project)}/stale`, { features, stale });
  });
}

/** Divides toggles into requests, each for some toggles of a project. `send` gets the project and the names. */
function batches(toggles, size, send) {
  const groups = [];
  for (const [project, all] of Map.groupBy(toggles, (toggle) => toggle.project)) {
    for (let i = 0; i < all.length; i += size) {
      const some = all.slice(i, i + size);
      groups.push({ toggles: some, send: () => send(project, some.map(({ name }) => name)) });
    }
  }
  return groups;
}

/** Throws an error if someone has archived a toggle since it was shown: the API marks archived toggles, too. */
async function checkArchived(toggle) {
  const { archived } = await call('GET', togglePath(toggle));
  if (!archived) return;
  const event = await newestChange(toggle, 'feature-archived');
  throw new Error(event ? `It was archived by ${event.createdBy} (${relativeTime(new Date(event.createdAt))}).` : 'It was archived meanwhile.');
}

/**
 * Performs an action on toggles, a few requests at a time, until `signal` stops it.
 * @param {AbortSignal} [signal]
 * @param {(count: number) => void} [progress] called with the number of toggles that are through
 * @returns {Promise<{done: Array, failed: Array<{toggle, error}>, left: Array}>} `left` are the toggles whose turn has not come
 */
async function perform(action, toggles, signal, progress = () => {}) {
  const groups = action.groups(toggles);
  const done = [];
  const failed = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (groups.length > 0 && !signal?.aborted) {
      const group = groups.shift();
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
  return { done, failed, left: groups.flatMap((group) => group.toggles) };
}

/** A list of names, of which only some are shown. */
function nameList(toggles) {
  return html`<ul class="values">${toggles.slice(0, shownNames).map(({ name }) => html`<li>${text(name)}</li>`)}
    ${toggles.length > shownNames ? html`<li>and ${(toggles.length - shownNames).toLocaleString('en')} more</li>` : nothing}</ul>`;
}

/**
 * Asks, and performs an action. Afterwards it says what was done, and offers to undo it.
 * @param {(message: string, undo?: () => Promise<string>) => void} announce
 * @param {(rest: Array, done: Array) => void} [ended] called with the toggles that have not changed, and with those that have
 * @param {number} [days] in which toggles that were used are still used
 */
export function openAction(action, toggles, announce, ended = () => {}, days = unusedDays) {
  const state = element(html`<p class="detail" role="status"></p>`);
  const one = toggles.length === 1;
  const controller = new AbortController();
  const warning = action.warn?.(toggles, days, controller.signal);
  let running = false;
  const dialog = openDialog(action.title(one ? text(toggles[0].name) : counted(toggles.length, 'toggle')), () => [
    one ? nothing : nameList(toggles),
    html`<p>${action.explain(one, toggles)}</p>`,
    form({ submit: action.label, busy: 'Working…', danger: action.danger, cancel: leave, send }, warning?.element, state),
  ], undefined, leave);

  /** Closes the dialog, or stops the work that has begun. */
  function leave() {
    controller.abort();
    if (!running) dialog.close();
  }

  async function send() {
    warning?.check();
    running = true;
    const { done, failed, left } = await perform(action, toggles, controller.signal, (count) => {
      if (!one) state.textContent = `${count.toLocaleString('en')} of ${toggles.length.toLocaleString('en')}`;
    }).finally(() => { running = false; });
    if (failed.length === 0) {
      dialog.close();
      end(done, left);
      return;
    }
    showIn(dialog, `${counted(failed.length, 'toggle')} could not be changed`, html`
      <p>${counted(done.length, 'toggle')} ${action.past}.</p>
      <ul class="failures">${failed.slice(0, shownNames).map(({ toggle, error }) => html`<li>${text(toggle.name)}: ${error.message}${
  error.id ? html`<small> Request ID: <code>${error.id}</code></small>` : nothing}</li>`)}
        ${failed.length > shownNames ? html`<li>and ${failed.length - shownNames} more</li>` : nothing}</ul>
      <div class="buttons"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`);
    dialog.addEventListener('close', () => end(done, [...failed.map(({ toggle }) => toggle), ...left]));
    dialog.querySelector('button').focus();
  }

  function end(done, rest) {
    if (done.length > 0) announce(`${said(action, done)}${controller.signal.aborted ? ` Stopped before ${counted(rest.length, 'toggle')}.` : ''}`, undoing(action, done));
    ended(rest, done);
    changedToggles();
  }
}

const said = (action, done) => `${done.length === 1 ? `Toggle ${done[0].name}` : counted(done.length, 'toggle')} ${action.past}.`;

/** Returns a function that undoes an action and returns what it has done, or undefined if the action cannot be undone. */
function undoing(action, done) {
  const inverse = action.inverse?.();
  if (!inverse) return undefined;
  let rest = done;
  return async () => {
    const { done: undone, failed } = await perform(inverse, rest);
    changedToggles();
    rest = failed.map(({ toggle }) => toggle);
    if (failed.length > 0) throw new Error(`${failed[0].toggle.name}: ${failed[0].error.message}`);
    return said(inverse, undone);
  };
}
