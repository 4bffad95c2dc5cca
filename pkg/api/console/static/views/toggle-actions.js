// What can be done with one toggle or many: each action asks, says what it has done, and most can be undone.

import { call } from '../api.js';
import { showIn } from '../dialog.js';
import { counted, text } from '../dom.js';
import { environmentPath, livePlaces } from '../environment.js';
import { html, nothing } from '../template.js';
import { relativeTime } from '../time.js';
import { changedToggles, newestChange, togglePath } from '../toggle.js';

const most = 50; // toggles in one request that marks them
const mostSwitched = 30; // toggles in one request that turns them on or off
const atOnce = 6; // requests
const shownNames = 10;

/**
 * The actions, with the toggles that they apply to. `title` and `explain` are about one toggle or several, `warn` warns about some of them,
 * see `archiveWarning`, `instead` is what can be done if it is not possible, and `inverse` returns the action that reverses it exactly. `effect` has what an action changes for applications, see
 * `Item`; without it, that is nothing. `groups` divides toggles into requests, whose `send` gets `call` or what is used instead.
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
    applies: ({ archived }) => !archived, warn: async (toggles, days, signal) => (await import('./archive-warning.js')).archiveWarning(toggles, days, signal),
    title: (what) => ['Archive ', what, '?'],
    explain: (one) => `${one ? 'It' : 'They'} can be revived.`,
    effect: (toggle) => ({
      toggles: [toggle],
      places: livePlaces(toggle),
      async lines() {
        const { archivedLine } = await import('../state-words.js'); // the first view does not need it
        return livePlaces(toggle).map(({ environment }) => archivedLine(environment.name));
      },
      asked: () => [{ feature: toggle.name, action: 'archiveFeature' }],
    }),
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle],
      async send(write) {
        await checkArchived(toggle);
        await write('DELETE', togglePath(toggle));
      },
    })),
  },
  revive: {
    label: 'Revive', past: 'revived', inverse: () => actions.archive, permission: 'UPDATE_FEATURE',
    applies: ({ archived }) => archived,
    title: (what) => ['Revive ', what, '?'],
    explain: (one) => `${one ? 'It is' : 'They are'} in the list of toggles again, and off in all environments.`,
    groups: (toggles) => toggles.map((toggle) => ({ toggles: [toggle], send: (write) => write('POST', revivePath(toggle)) })),
  },
  delete: {
    label: 'Delete', past: 'deleted', permission: 'DELETE_FEATURE', danger: true,
    applies: ({ archived }) => archived,
    title: (what) => ['Delete ', what, '?'],
    explain: (one) => `This cannot be undone. Only the event log keeps what ${one ? 'it was' : 'they were'}.`,
    groups: (toggles) => toggles.map((toggle) => ({
      toggles: [toggle], send: (write) => write('DELETE', `/api/admin/archive/${encodeURIComponent(toggle.name)}`),
    })),
  },
};

/**
 * What an action on toggles needs in the project of the first one, see why.js.
 * @param {{permission: string, environment?: string, title: (what: string) => unknown[], to?: (what: string) => string, effect?: Function}} action
 * @param {Array<{project: string, name: string}>} toggles
 */
export function needOf({ permission, environment, title, to, effect }, toggles) {
  const what = toggles.length === 1 ? toggles[0].name : `${toggles.length.toLocaleString('en')} of these toggles`;
  const words = to?.(what) ?? title(what).join('').replace(/\?$/, '');
  return { permission, project: toggles[0].project, environment, places: effect?.(toggles[0]).places, to: words.replace(/^./, (first) => first.toLowerCase()) };
}

// The first view does not need them.
const restoring = () => import('../restore.js');
/** @type {typeof import('./change-sheet.js').makeChange} */
const makeChange = async (change, context) => (await import('./change-sheet.js')).makeChange(change, context);

const revivePath = ({ name }) => `/api/admin/archive/revive/${encodeURIComponent(name)}`;

/** The action that reverses archiving: toggles are on again where they were on when they were archived. */
export const unarchive = {
  label: 'Revive', past: 'revived as before', permission: 'UPDATE_FEATURE', instead: { label: 'Revive, off', action: actions.revive },
  applies: ({ archived }) => archived,
  title: (what) => ['Revive ', what, ' as before?'],
  explain: (one, [{ environments }]) => {
    if (!one) return 'They are on again where they were on.';
    const names = environments.filter(({ enabled }) => enabled).map(({ name }) => name);
    return names.length === 0 ? 'It was off in all environments.' : `It is on again in ${new Intl.ListFormat('en-GB').format(names)}.`;
  },
  effect: (toggle) => ({
    toggles: [toggle],
    places: livePlaces(toggle),
    lines: () => livePlaces(toggle).map(({ environment }) => ({ label: `${environment.name}: `, from: 'archived', to: 'on' })),
  }),
  groups: (toggles) => toggles.map((toggle) => ({ toggles: [toggle], send: (write) => write('POST', `${revivePath(toggle)}?keepEnabled=true`) })),
};

/** The action that turns toggles on or off in an environment. */
export function switchAction({ name, type }, on) {
  const change = on ? 'on' : 'off';
  const added = new Map(); // changes by the names of toggles without an enabled strategy, to which turning on adds one
  const hasStrategy = ({ environments }) => environments.find((state) => state.name === name)?.hasEnabledStrategies;
  const together = (toggles, way) => batches(toggles, mostSwitched, (project, features, write) => write('POST',
    `/api/admin/projects/${encodeURIComponent(project)}/bulk_features/environments/${encodeURIComponent(name)}/${way}`, { features }));
  const alone = (toggles, send) => toggles.map((toggle) => ({ toggles: [toggle], send: (write) => send(toggle, write) }));
  const effect = (toggle, way) => ({
    toggles: [toggle],
    places: [{ project: toggle.project, environment: { name, type }, isLive: true }],
    turnsOff: !way,
    lines: () => [{ label: `${name}: `, from: way ? 'off' : 'on', to: way ? 'on' : 'off' }],
    asked: () => [{ feature: toggle.name, action: 'updateEnabled', payload: { enabled: way } }],
  });

  return {
    label: `Turn ${change} in ${name}`, past: `turned ${change} in ${name}`, permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: name,
    applies: ({ archived, environments }) => !archived && environments.some((state) => state.name === name && state.enabled !== on),
    title: (what) => [`Turn ${change} `, what, ' in ', text(name), '?'],
    to: (what) => `turn ${change} ${what} in ${name}`,
    explain: (one) => (on ? `${one ? 'It is' : 'They are'} on for those that the strategies select, or for everyone without a strategy.`
      : `${one ? 'It is' : 'They are'} off for everyone. The strategies stay.`),
    effect: (toggle) => effect(toggle, on),
    groups: (toggles) => (on ? [...together(toggles.filter(hasStrategy), 'on'), ...alone(toggles.filter((toggle) => !hasStrategy(toggle)), turnOn)]
      : together(toggles, 'off')),
    inverse: () => ({
      past: `turned ${on ? 'off' : 'on'} in ${name}`,
      permission: 'UPDATE_FEATURE_ENVIRONMENT',
      effect: (toggle) => effect(toggle, !on),
      groups: (toggles) => (on ? [...together(toggles.filter((toggle) => !added.has(toggle.name)), 'off'),
        ...alone(toggles.filter((toggle) => added.has(toggle.name)), turnBack)]
        : alone(toggles, async (toggle, write) => (await restoring()).turnOnAgain(toggle, name, write))),
    }),
  };

  async function turnOn(toggle, write) {
    const { reversibly } = await restoring();
    added.set(toggle.name, await reversibly(toggle, { name }, (etag) => write('POST', `${environmentPath(toggle, name)}/on`, undefined, { etag })));
  }

  async function turnBack(toggle, write) {
    const { reverse } = await restoring();
    await reverse(added.get(toggle.name), write);
  }
}

/** Requests that mark toggles, or take the mark away. */
function marks(toggles, stale) {
  return batches(toggles, most, async (project, features, write) => {
    if (toggles.length === 1) await checkArchived(toggles[0]);
    await write('POST', `/api/admin/projects/${encodeURIComponent(project)}/stale`, { features, stale });
  });
}

/** Divides toggles into requests, each for some toggles of a project. `send` gets the project and the names, and what sends the request. */
function batches(toggles, size, send) {
  const groups = [];
  for (const [project, all] of Map.groupBy(toggles, (toggle) => toggle.project)) {
    for (let i = 0; i < all.length; i += size) {
      const some = all.slice(i, i + size);
      groups.push({ toggles: some, send: (write) => send(project, some.map(({ name }) => name), write) });
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
 * @param {Object} action
 * @param {Object[]} toggles
 * @param {{write: Function, signal?: AbortSignal}} made see `Made`
 * @param {(count: number) => void} [progress] called with the number of toggles that are through
 * @returns {Promise<{done: Array, failed: Array<{toggle, error}>, left: Array}>} `left` are the toggles whose turn has not come
 */
async function perform(action, toggles, { write, signal }, progress = () => {}) {
  const groups = action.groups(toggles);
  const done = [];
  const failed = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (groups.length > 0 && !signal?.aborted) {
      const group = groups.shift();
      try {
        await group.send(write);
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

/** What an action changes of toggles, see `Item`. Those that applications notice are first. */
function itemsOf({ effect, permission }, toggles) {
  const items = toggles.map((toggle) => ({ name: toggle.name, toggles: [], places: [], permission, ...effect?.(toggle) }));
  return items.toSorted((a, b) => Number(b.places.length > 0) - Number(a.places.length > 0));
}

const chosen = (toggles, items) => toggles.filter(({ name }) => items.some((item) => item.name === name));

/**
 * Asks, and performs an action. Afterwards it says what was done, and offers to undo it.
 * @param {{may: Function, announce: (message: string, undo?: () => Promise<string|undefined>) => void}} context of the page
 * @param {(rest: Array, done: Array) => void} [ended] called with the toggles that have not changed, and with those that have
 * @param {number} [days] in which toggles that were used are still used, see `archiveWarning`
 */
export async function openAction(action, toggles, context, ended = () => {}, days = undefined) {
  const one = toggles.length === 1;
  const loads = new AbortController();
  const warning = await action.warn?.(toggles, days, loads.signal);
  await makeChange({
    title: action.title(one ? text(toggles[0].name) : counted(toggles.length, 'toggle')),
    submit: action.label,
    danger: action.danger,
    always: true,
    items: itemsOf(action, toggles),
    content: [html`<p>${action.explain(one, toggles)}</p>`],
    instead: insteadOf(action, toggles, context, ended),
    controls: warning ? [warning.element] : [],
    check: () => warning?.check(),
    async send({ items, ...made }) {
      const all = chosen(toggles, items);
      const { done, failed, left } = await perform(action, all, made, (count) => {
        if (!one) made.progress(`${count.toLocaleString('en')} of ${all.length.toLocaleString('en')}`);
      });
      if (failed.length === 0) {
        end(done, left, made.signal);
        return false;
      }
      showFailures(made.dialog, action, done, failed);
      made.dialog.addEventListener('close', () => end(done, [...failed.map(({ toggle }) => toggle), ...left], made.signal));
      return true;
    },
  }, context);
  loads.abort();

  function end(done, rest, { aborted }) {
    if (done.length > 0) {
      context.announce(`${said(action, done)}${aborted ? ` Stopped before ${counted(rest.length, 'toggle')}.` : ''}`, undoing(action, done, context));
    }
    ended(rest, done);
    changedToggles();
  }
}

/** What can be done with toggles if an action is not possible, see `Change`. */
const insteadOf = ({ instead }, toggles, context, ended) => instead && { label: instead.label, action: () => openAction(instead.action, toggles, context, ended) };

/** Shows which toggles an action could not change. */
function showFailures(dialog, action, done, failed) {
  showIn(dialog, `${counted(failed.length, 'toggle')} could not be changed`, html`
    <p>${counted(done.length, 'toggle')} ${action.past}.</p>
    <ul class="failures">${failed.slice(0, shownNames).map(({ toggle, error }) => html`<li>${text(toggle.name)}: ${error.message}${
  error.id ? html`<small> Request ID: <code>${error.id}</code></small>` : nothing}</li>`)}
      ${failed.length > shownNames ? html`<li>and ${failed.length - shownNames} more</li>` : nothing}</ul>
    <div class="buttons"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`);
  dialog.querySelector('button').focus();
}

const said = (action, done) => `${done.length === 1 ? `Toggle ${done[0].name}` : counted(done.length, 'toggle')} ${action.past}.`;

/** Returns a function that undoes an action and returns what it has done, or undefined if the action cannot be undone. */
function undoing(action, done, context) {
  const inverse = action.inverse?.();
  if (!inverse) return undefined;
  let rest = done;
  return Object.assign(undo, { items: itemsOf(inverse, done) });

  async function undo() {
    let message;
    await makeChange({
      title: 'Undo this change?',
      submit: 'Undo',
      items: itemsOf(inverse, rest),
      instead: insteadOf(inverse, rest, context),
      async send({ items, ...made }) {
        const { done: undone, failed } = await perform(inverse, chosen(rest, items), made);
        changedToggles();
        rest = failed.map(({ toggle }) => toggle);
        if (failed.length > 0) throw new Error(`${failed[0].toggle.name}: ${failed[0].error.message}`);
        message = said(inverse, undone);
      },
    }, context);
    return message;
  }
}
