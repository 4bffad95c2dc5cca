// What reverses an event of the log: for each type, the one operation of the API that does it. It asks first, and says if the thing has changed
// again since.

import { call, read } from '../api.js';
import { counted, form, h, openDialog, replace, text } from '../dom.js';
import { changedNames, inline } from '../event-words.js';
import { strategyLabels, strategyPath } from '../strategy.js';
import { changedToggles, togglePath } from '../toggle.js';
import { actions, openAction, switchAction } from './toggle-actions.js';

const toggleOf = ({ project, featureName }) => togglePath({ project, name: featureName });
const idOf = ({ subject }) => subject.slice(subject.indexOf(':') + 1);

/** The action on a toggle that reverses an event. */
const actionOf = {
  'feature-archived': () => actions.revive,
  'feature-revived': () => actions.archive,
  'feature-stale-on': () => actions.unmark,
  'feature-stale-off': () => actions.stale,
  'feature-environment-enabled': ({ environment }) => switchAction({ name: environment }, false),
  'feature-environment-disabled': ({ environment }) => switchAction({ name: environment }, true),
};

/**
 * The resources whose properties get the values that they had before. `path` is that of the resource, which `load` loads if it has none of its
 * own, `to` is that of the PUT if it is another one, and `names` are the properties that the PUT sets.
 */
const resourceOf = {
  'feature-updated': { permission: 'UPDATE_FEATURE', path: toggleOf, names: ['type', 'description', 'impressionData'] },
  'feature-strategy-update': {
    permission: 'UPDATE_FEATURE_STRATEGY', names: Object.keys(strategyLabels),
    path: (event) => strategyPath({ project: event.project, name: event.featureName }, event.environment, event.data.id),
  },
  'context-field-updated': {
    permission: 'UPDATE_CONTEXT_FIELD', names: ['description', 'stickiness', 'sortOrder', 'legalValues'],
    path: (event) => `/api/admin/context/${encodeURIComponent(idOf(event))}`,
  },
  'environment-updated': {
    permission: 'ADMIN', names: ['type', 'sortOrder'],
    path: (event) => `/api/admin/environments/${encodeURIComponent(idOf(event))}`,
    to: (event) => `/api/admin/environments/update/${encodeURIComponent(idOf(event))}`,
  },
  'segment-updated': {
    permission: 'UPDATE_SEGMENT', names: ['name', 'description', 'project', 'constraints'], path: (event) => `/api/admin/segments/${idOf(event)}`,
  },
  'feature-type-updated': {
    permission: 'ADMIN', names: ['lifetimeDays'],
    load: async (event, signal) => ({
      content: (await call('GET', '/api/admin/feature-types', undefined, { signal })).types.find(({ id }) => id === idOf(event)), etag: null,
    }),
    to: (event) => `/api/admin/feature-types/${encodeURIComponent(idOf(event))}/lifetime`,
  },
};

const labels = {
  ...strategyLabels, name: 'Name', type: 'Type', description: 'Description', impressionData: 'Impression data', stickiness: 'Stickiness', sortOrder: 'Order',
  legalValues: 'Legal values', project: 'Project', lifetimeDays: 'Lifetime',
};

/** The log has the length of a value instead of one that is too long. */
const isShortened = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && 'length' in value;

/**
 * Returns the item of a menu that reverses an event, or null if nothing does, or the user may not.
 * @param {Object} event
 * @param {{may: Function, announce: Function, signal: AbortSignal}} context of the page
 * @param {() => void} ended called after the event was reversed
 */
export function undoOf(event, context, ended) {
  const item = (action) => ({ label: 'Undo…', action: () => action().catch((error) => context.signal.aborted || context.announce(`It cannot be undone. ${error.message}`)) });
  const action = actionOf[event.type]?.(event);
  if (action) return context.may(action.permission) ? item(() => reverse(event, action, context, ended)) : null;
  const resource = resourceOf[event.type];
  if (!resource || !context.may(resource.permission) || !event.data || !event.preData) return null;
  const changed = changedNames(event).filter((name) => resource.names.includes(name));
  if (changed.length === 0 || changed.some((name) => isShortened(event.preData[name]))) return null;
  return item(() => restore(event, resource, changed, context, ended));
}

/** Performs an action on a toggle, if it still applies to it. */
async function reverse(event, action, { announce, signal }, ended) {
  const toggle = await call('GET', toggleOf(event), undefined, { signal });
  if (action.applies(toggle)) openAction(action, [toggle], announce, ended);
  else announce(`Nothing to undo: toggle ${toggle.name} is ${action.past}.`);
}

/** Gives properties the values that they had before an event. */
async function restore(event, { path, load = (of, signal) => read(path(of), { signal }), to = path, names }, changed, { announce, signal }, ended) {
  const problem = h('div', { role: 'alert' });
  const values = h('div');
  let current = await load(event, signal);
  if (changed.every((name) => same(current.content[name], event.preData[name]))) {
    announce('Nothing to undo: it has these values.');
    return;
  }
  const dialog = openDialog('Undo this change?', () => [
    values,
    form({ submit: 'Undo', busy: 'Working…', cancel: () => dialog.close(), send }, problem),
  ]);
  show();

  function show() {
    const again = changed.some((name) => !same(current.content[name], event.data[name]));
    replace(values,
      again && h('p', { class: 'notice warn' }, 'It has changed again since.'),
      h('ul', { class: 'sentences' }, changed.map((name) => h('li', null, `${labels[name]}: `,
        h('del', null, shown(name, current.content[name])), ' → ', h('ins', null, shown(name, event.preData[name]))))));
  }

  async function send() {
    replace(problem);
    const body = Object.fromEntries(names.map((name) => [name, changed.includes(name) ? event.preData[name] : current.content[name]]));
    try {
      await call('PUT', to(event), body, { etag: current.etag });
    } catch (error) {
      if (error.status !== 412) throw error;
      current = await load(event, signal);
      show();
      replace(problem, h('p', { class: 'error' }, 'Someone has changed it meanwhile. Nothing was undone: see what it is now.'));
      return;
    }
    dialog.close();
    announce('Undone.');
    changedToggles();
    ended();
  }
}

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const shown = (name, value) => (name === 'lifetimeDays' ? (value === null ? 'never' : counted(value, 'day'))
  : Array.isArray(value) && value.length > 5 ? counted(value.length, 'value') : text(inline(value)));
