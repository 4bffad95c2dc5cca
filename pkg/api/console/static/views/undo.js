// What reverses an event of the log: exactly what its request changed. It asks first, and says if the thing has changed again since.

import { call, read } from '../api.js';
import { counted } from '../dom.js';
import { loadEnvironments, namedEnvironment } from '../environment.js';
import { searchEvents } from '../event-search.js';
import { changedNames, inline } from '../event-words.js';
import { projectPath } from '../project.js';
import { configPath, forgetProtections, loadConfig } from '../protection.js';
import { askedSteps, bringTo, loadState } from '../restore.js';
import { isChangedSince, reversed } from '../reversal.js';
import { loadSegmentUses, segmentLabels } from '../segment.js';
import { html } from '../template.js';
import { exactTime } from '../time.js';
import { changedToggles, toggleAddress, togglePath } from '../toggle.js';
import { makeChange } from './change-sheet.js';
import { dependencyItem, setDependency } from './dependency.js';
import { isSameFreeze, loadFreeze, restoreFreeze } from './freeze-dialog.js';
import { move } from './project-move.js';
import { segmentItem } from './segment-change.js';
import { stateItem } from './state-change.js';
import { actions, openAction, unarchive } from './toggle-actions.js';

const toggleOf = ({ project, featureName }) => togglePath({ project, name: featureName });
const dependencyTypes = { 'feature-dependency-added': 'after', 'feature-dependency-removed': 'before' };
const idOf = ({ subject }) => subject.slice(subject.indexOf(':') + 1);

/** The action on a toggle that reverses an event. */
export const actionOf = {
  'feature-archived': unarchive,
  'feature-revived': actions.archive,
  'feature-stale-on': actions.unmark,
  'feature-stale-off': actions.stale,
};

/** The permission to reverse a change of the state of a toggle in an environment. */
export const stateTypes = {
  'feature-environment-enabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-environment-disabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-strategy-add': 'DELETE_FEATURE_STRATEGY',
  'feature-strategy-remove': 'CREATE_FEATURE_STRATEGY',
  'feature-strategy-update': 'UPDATE_FEATURE_STRATEGY',
  'strategy-order-changed': 'UPDATE_FEATURE_STRATEGY',
};
export const switches = { 'feature-environment-enabled': true, 'feature-environment-disabled': false };
const mostEvents = 200; // of a toggle on a day, among which those of a request are found

/**
 * The resources whose properties get the values that they had before. `path` is that of the resource, which `load` loads if it has none of its
 * own, `to` is that of the PUT if it is another one, and `names` are the properties that the PUT sets. `item` is what the sheet has of a change
 * that applications notice.
 */
export const resourceOf = {
  'feature-updated': { permission: 'UPDATE_FEATURE', path: toggleOf, names: ['type', 'description', 'impressionData', 'owner', 'keepUntil', 'keepReason'] },
  'context-field-updated': {
    permission: 'UPDATE_CONTEXT_FIELD', names: ['description', 'stickiness', 'sortOrder', 'legalValues'],
    path: (event) => `/api/admin/context/${encodeURIComponent(idOf(event))}`,
  },
  'environment-updated': {
    permission: 'ADMIN', names: ['type', 'sortOrder', 'requiredApprovals'],
    path: (event) => `/api/admin/environments/${encodeURIComponent(idOf(event))}`,
    to: (event) => `/api/admin/environments/update/${encodeURIComponent(idOf(event))}`,
  },
  'change-request-configuration-updated': {
    permission: 'PROJECT_CHANGE_REQUEST_WRITE', names: ['changeRequestsEnabled', 'requiredApprovals', 'allowTurningOff'],
    load: async ({ project, environment }, signal) => ({ content: await loadConfig(project, environment, signal), etag: null }),
    to: ({ project, environment }) => configPath(project, environment),
  },
  'segment-updated': {
    permission: 'UPDATE_SEGMENT', names: ['name', 'description', 'project', 'constraints'], path: (event) => `/api/admin/segments/${idOf(event)}`,
    async item(segment, body, signal) {
      const [uses, environments] = await Promise.all([loadSegmentUses(segment.id, signal), loadEnvironments(signal)]);
      return segmentItem(segment, body, { uses, environments, permission: 'UPDATE_SEGMENT' });
    },
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
  ...segmentLabels, type: 'Type', impressionData: 'Impression data', owner: 'Owner', keepUntil: 'Kept until', keepReason: 'Why it is kept', stickiness: 'Stickiness', sortOrder: 'Order', legalValues: 'Legal values', lifetimeDays: 'Lifetime',
  requiredApprovals: 'Approvals', changeRequestsEnabled: 'Changes need a change request', allowTurningOff: 'Turning off is always allowed',
};

/** The log has the length of a value instead of one that is too long. */
export const isShortened = (value) => value !== null && typeof value === 'object' && !Array.isArray(value) && 'length' in value;

/**
 * Returns the item of a menu that reverses an event, or null if nothing does, or the user may not.
 * @param {Object} event
 * @param {{may: Function, announce: Function, signal: AbortSignal}} context of the page
 * @param {() => void} ended called after the event was reversed
 */
export function undoOf(event, context, ended) {
  const item = (action) => ({ label: 'Undo…', action: () => action().catch((error) => context.signal.aborted || context.announce(`It cannot be undone. ${error.message}`)) });
  const action = actionOf[event.type];
  if (action) return context.may(action.permission, event.project) ? item(() => reverse(event, action, context, ended)) : null;
  if (event.type in stateTypes) return context.may(stateTypes[event.type], event.project, event.environment) ? item(() => reverseState(event, context, ended)) : null;
  if (event.type in dependencyTypes) return context.may('UPDATE_FEATURE_DEPENDENCY', event.project) ? item(() => reverseDependency(event, context, ended)) : null;
  if (event.type === 'feature-project-change') return context.may('MOVE_FEATURE_TOGGLE', event.project) ? item(() => reverseMove(event, context, ended)) : null;
  if (event.type.startsWith('environment-freeze-')) return mayFreeze(event, context) ? item(() => reverseFreeze(event, context, ended)) : null;
  const resource = resourceOf[event.type];
  if (!resource || !context.may(resource.permission, event.project ?? undefined) || !event.data || !event.preData) return null;
  const changed = changedNames(event).filter((name) => resource.names.includes(name));
  if (changed.length === 0 || changed.some((name) => isShortened(event.preData[name]))) return null;
  return item(() => restore(event, resource, changed, context, ended));
}

/** Performs an action on a toggle, if it still applies to it. */
async function reverse(event, action, context, ended) {
  const toggle = await call('GET', toggleOf(event), undefined, { signal: context.signal });
  if (action.applies(toggle)) openAction(action, [toggle], context, ended);
  else context.announce(`Nothing to undo: toggle ${toggle.name} is ${action.past}.`);
}

/** What the sheet says about what is there now. */
const notice = (again, changed) => [
  ...again ? [html`<p class="notice error" role="alert">Someone has changed it meanwhile. Nothing was undone: see what it is now.</p>`] : [],
  ...changed ? [html`<p class="notice warn">It has changed again since.</p>`] : [],
];

/**
 * Asks, and undoes something: again with what it is now, as long as someone changes it meanwhile.
 * @param {(again: boolean) => Promise<boolean>} open reports whether someone has changed it meanwhile
 */
async function undoUntilSame(open) {
  for (let again = false; await open(again); again = true);
}

/** Reverses what the request of an event changed in the state of a toggle in an environment. */
async function reverseState(event, context, ended) {
  const { announce, signal } = context;
  const { project } = event;
  const toggle = { project, name: event.featureName };
  const [events, environments, first] = await Promise.all([eventsOfRequest(event, signal), loadEnvironments(signal), loadState(toggle, event.environment, signal)]);
  const environment = namedEnvironment(environments, event.environment);
  await undoUntilSame(async (again) => {
    const now = await loadState(toggle, environment.name, signal);
    const { target, isChanged: changed } = stateReversal(events, first, now);
    const item = stateItem(toggle, environment, now, target, { permission: stateTypes[event.type], asked: () => askedSteps(toggle, now, target) });
    if ((await item.lines()).length === 0) {
      announce('Nothing to undo: it is as it was before.');
      return false;
    }
    let isChanged = false;
    await makeChange({
      title: 'Undo this change?',
      submit: 'Undo',
      always: true,
      content: notice(again, changed),
      items: [item],
      async send({ write }) {
        isChanged = !same(await loadState(toggle, environment.name), now);
        if (isChanged) return;
        await bringTo(toggle, environment.name, now, target, write);
        announce('Undone.');
        changedToggles();
        ended();
      },
    }, context);
    return isChanged;
  });
}

/**
 * The state in which events of one request are reversed, and whether what they changed has changed again since.
 * @param {Object[]} events
 * @param {Object} first the state when the events were read
 * @param {Object} now
 */
export function stateReversal(events, first, now) {
  const { before, after, order } = changeOf(events, first);
  if (before.strategies.some((strategy) => Object.values(strategy).some(isShortened))) throw new Error('The event log does not have the whole strategy.');
  return { target: order ? inOrder(now, order) : reversed(before, after, now), isChanged: isChangedSince(before, after, now) };
}

/** Loads the events of the request of an event that are about the same toggle in the same environment. */
async function eventsOfRequest(event, signal) {
  const { featureName: feature, createdAt } = event;
  const environment = event.environment ?? undefined;
  const day = createdAt.slice(0, 10);
  const { events } = await searchEvents({ feature, environment, from: day, to: day }, signal, mostEvents);
  return ofRequest(event, events);
}

/** An event, and those of some others that its request has recorded about the same toggle. */
export const ofRequest = (event, events) => [event, ...events.filter(({ id, featureName, requestId, createdAt }) => (
  id !== event.id && featureName === event.featureName && requestId === event.requestId && (requestId || createdAt === event.createdAt)))];

/** The state before and after events, as far as they changed it. `order` are the ids of strategies in their order before, if it changed. */
function changeOf(events, now) {
  const before = { enabled: now.enabled, strategies: [] };
  const after = { enabled: now.enabled, strategies: [] };
  let order = null;
  for (const { type, data, preData } of events) {
    if (type in switches) [before.enabled, after.enabled] = [!switches[type], switches[type]];
    else if (type === 'strategy-order-changed') order = preData.strategyIds;
    else {
      if (preData) before.strategies.push(preData);
      if (data) after.strategies.push(data);
    }
  }
  return { before, after, order };
}

/** Gives strategies another order. Those that it does not name follow. */
function inOrder(state, ids) {
  const place = ({ id }) => (ids.includes(id) ? ids.indexOf(id) : ids.length);
  const strategies = state.strategies.toSorted((a, b) => place(a) - place(b));
  return { ...state, strategies: strategies.map((strategy, i) => ({ ...strategy, sortOrder: i })) };
}

/** Gives properties the values that they had before an event. */
async function restore(event, { path, load = (of, signal) => read(path(of), { signal }), to = path, names, permission, item }, changed, context, ended) {
  const { announce, signal } = context;
  await undoUntilSame(async (again) => {
    const current = await load(event, signal);
    const { content } = current;
    const { isDone, isChanged: isOther, body, lines } = restoration(event, names, changed, content);
    if (isDone) {
      announce('Nothing to undo: it has these values.');
      return false;
    }
    let isChanged = false;
    await makeChange({
      title: 'Undo this change?',
      submit: 'Undo',
      always: true,
      content: notice(again, isOther),
      items: [await item?.(content, body, signal) ?? { name: '', toggles: [], places: [], permission, lines: () => lines }],
      async send({ write }) {
        const latest = await load(event, signal); // not everything has an entity tag
        isChanged = !names.every((name) => same(latest.content[name], content[name]));
        if (isChanged) return;
        try {
          await write('PUT', to(event), body, { etag: latest.etag });
        } catch (error) {
          if (error.status !== 412) throw error;
          isChanged = true;
          return;
        }
        forgetProtections();
        announce('Undone.');
        changedToggles();
        ended();
      },
    }, context);
    return isChanged;
  });
}

/**
 * How properties get the values that they had before an event: the body of the PUT, and the lines of the sheet.
 * @param {Object} event
 * @param {string[]} names the properties that the PUT sets
 * @param {string[]} changed those that the event changed
 * @param {Object} content the resource as it is now
 */
export const restoration = ({ data, preData }, names, changed, content) => ({
  isDone: changed.every((name) => same(content[name], was(preData, name))),
  isChanged: changed.some((name) => !same(content[name], was(data, name))), // again since
  body: Object.fromEntries(names.map((name) => [name, changed.includes(name) ? was(preData, name) : content[name]])),
  lines: changed.map((name) => ({ label: `${labels[name]}: `, from: shown(name, content[name]), to: shown(name, was(preData, name)) })),
});

/** A property in the data of an event, which leaves out some that are null. */
const was = (data, name) => data[name] ?? null;

/** Gives a toggle the dependency that it had before the request of an event. */
async function reverseDependency(event, context, ended) {
  const { signal } = context;
  const states = { before: undefined, after: undefined };
  for (const { type, data } of await eventsOfRequest(event, signal)) if (type in dependencyTypes) states[dependencyTypes[type]] ??= data;
  await undoState({
    ...states,
    load: () => call('GET', toggleOf(event), undefined, { signal }),
    stateOf: (toggle) => toggle.dependencies[0],
    isSame: isSameDependency,
    itemOf: (toggle, now) => dependencyItem(toggle, now, states.before),
    set: (toggle, now, write) => setDependency(toggle, now, states.before, write),
    ended() {
      changedToggles();
      ended();
    },
  }, context);
}

/**
 * Gives something the state that it had before an event, unless someone else changes it meanwhile.
 * @param {Object} options
 * @param {unknown} options.before the state before the event
 * @param {unknown} options.after the state after it
 * @param {() => Promise<any>} options.load loads what has the state
 * @param {() => Promise<any>} [options.reload] loads it again, before the state is set
 * @param {(found: any) => any} [options.stateOf] returns the state of what was loaded
 * @param {(a: any, b: any) => boolean} options.isSame compares states
 * @param {(found: any, now: any) => Object} options.itemOf returns the change for the sheet
 * @param {(found: any, now: any, write: typeof call) => Promise<unknown>} options.set sets the state
 * @param {() => void} options.ended is called after that
 * @param {Object} context of the page
 */
async function undoState({ before, after, load, reload = load, stateOf = (found) => found, isSame, itemOf, set, ended }, context) {
  const { announce } = context;
  await undoUntilSame(async (again) => {
    const found = await load();
    const now = stateOf(found);
    if (isSame(now, before)) {
      announce('Nothing to undo: it is as it was before.');
      return false;
    }
    let isChanged = false;
    await makeChange({
      title: 'Undo this change?',
      submit: 'Undo',
      always: true,
      content: notice(again, !isSame(now, after)),
      items: [itemOf(found, now)],
      async send({ write }) {
        isChanged = !isSame(stateOf(await reload()), now);
        if (isChanged) return;
        await set(found, now, write);
        announce('Undone.');
        ended();
      },
    }, context);
    return isChanged;
  });
}

const isSameDependency = (a, b) => Boolean(a) === Boolean(b) && (!a || (a.feature === b.feature && a.enabled === b.enabled && same(a.variants ?? [], b.variants ?? [])));

/** Moves a toggle back to the project that it was in before an event. */
async function reverseMove({ featureName: name, data, preData }, context, ended) {
  const toggle = await call('GET', togglePath({ project: data.project, name }), undefined, { signal: context.signal });
  if (await move(toggle, preData.project, 'Undo', context) !== 'made') return;
  context.announce(`${name} is in the project ${preData.project} again.`);
  if (window.location.hash.startsWith(toggleAddress(toggle))) window.location.hash = toggleAddress({ project: preData.project, name });
  else ended();
}

/** Reports whether the user may set and end the freezes of an environment, or of one in all projects. */
const mayFreeze = ({ project }, { may }) => (project ? may('PROJECT_CHANGE_REQUEST_WRITE', project) : may('ADMIN'));

/** Sets the freeze that was there before an event, or ends the one that the event set. */
async function reverseFreeze(event, context, ended) {
  const { project, environment, preData } = event;
  const path = `${project ? projectPath(project) : '/api/admin'}/environments/${encodeURIComponent(environment ?? idOf(event))}/freeze`;
  const before = preData && Date.parse(preData.until) > Date.now() ? preData : null;
  const words = (freeze) => (freeze ? `${exactTime(freeze.from)} until ${exactTime(freeze.until)}: ${freeze.reason}` : 'none');
  await undoState({
    before,
    after: event.data,
    load: () => loadFreeze(path, context.signal),
    reload: () => loadFreeze(path),
    isSame: isSameFreeze,
    itemOf: (now) => ({ name: '', toggles: [], places: [], permission: '', lines: () => [{ label: 'Freeze: ', from: words(now), to: words(before) }] }),
    set: (now, _, write) => restoreFreeze(path, now, before, write),
    ended,
  }, context);
}

export const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const shown = (name, value) => (name === 'owner' ? value?.name ?? 'none' : name === 'lifetimeDays' ? (value === null ? 'never' : counted(value, 'day'))
  : Array.isArray(value) && value.length > 5 ? counted(value.length, 'value') : inline(value));
