// What reverses an event of the log: exactly what its request changed. It asks first, and says if the thing has changed again since.

import { call, read } from '../api.js';
import { form, openDialog } from '../dialog.js';
import { counted, text } from '../dom.js';
import { searchEvents } from '../event-search.js';
import { changedNames, inline } from '../event-words.js';
import { bringTo, loadState } from '../restore.js';
import { isChangedSince, reversed } from '../reversal.js';
import { loadSegments, segmentNames } from '../segment.js';
import { strategyLabels } from '../strategy.js';
import { element, html, nothing, render } from '../template.js';
import { changedToggles, togglePath } from '../toggle.js';
import { strategyWords } from '../words.js';
import { actions, openAction, unarchive } from './toggle-actions.js';

const toggleOf = ({ project, featureName }) => togglePath({ project, name: featureName });
const idOf = ({ subject }) => subject.slice(subject.indexOf(':') + 1);

/** The action on a toggle that reverses an event. */
const actionOf = {
  'feature-archived': unarchive,
  'feature-revived': actions.archive,
  'feature-stale-on': actions.unmark,
  'feature-stale-off': actions.stale,
};

/** The permission to reverse a change of the state of a toggle in an environment. */
const stateTypes = {
  'feature-environment-enabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-environment-disabled': 'UPDATE_FEATURE_ENVIRONMENT',
  'feature-strategy-add': 'DELETE_FEATURE_STRATEGY',
  'feature-strategy-remove': 'CREATE_FEATURE_STRATEGY',
  'feature-strategy-update': 'UPDATE_FEATURE_STRATEGY',
  'strategy-order-changed': 'UPDATE_FEATURE_STRATEGY',
};
const switches = { 'feature-environment-enabled': true, 'feature-environment-disabled': false };
const mostEvents = 200; // of a toggle on a day, among which those of a request are found

/**
 * The resources whose properties get the values that they had before. `path` is that of the resource, which `load` loads if it has none of its
 * own, `to` is that of the PUT if it is another one, and `names` are the properties that the PUT sets.
 */
const resourceOf = {
  'feature-updated': { permission: 'UPDATE_FEATURE', path: toggleOf, names: ['type', 'description', 'impressionData'] },
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
  name: 'Name', type: 'Type', description: 'Description', impressionData: 'Impression data', stickiness: 'Stickiness', sortOrder: 'Order',
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
  const action = actionOf[event.type];
  if (action) return context.may(action.permission, event.project) ? item(() => reverse(event, action, context, ended)) : null;
  if (event.type in stateTypes) return context.may(stateTypes[event.type], event.project, event.environment) ? item(() => reverseState(event, context, ended)) : null;
  const resource = resourceOf[event.type];
  if (!resource || !context.may(resource.permission, event.project ?? undefined) || !event.data || !event.preData) return null;
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

/** Reverses what the request of an event changed in the state of a toggle in an environment. */
async function reverseState(event, { announce, signal }, ended) {
  const { project, environment } = event;
  const toggle = { project, name: event.featureName };
  const [events, first] = await Promise.all([eventsOfRequest(event, signal), loadState(toggle, environment, signal)]);
  const { before, after, order } = changeOf(events, first);
  if (before.strategies.some((strategy) => Object.values(strategy).some(isShortened))) throw new Error('The event log does not have the whole strategy.');
  const ids = before.strategies.flatMap(({ segments }) => segments).concat(first.strategies.flatMap(({ segments }) => segments));
  const nameOf = segmentNames(ids.length > 0 ? await loadSegments(signal) : []);
  const words = (strategy) => strategyWords(strategy, nameOf);
  const problem = element(html`<div role="alert"></div>`);
  const list = element(html`<div></div>`);
  let now = first;
  let target = targetOf(now);
  if (changeLines(now, target, environment, words).length === 0) {
    announce('Nothing to undo: it is as it was before.');
    return;
  }
  const dialog = openDialog('Undo this change?', () => [list, form({ submit: 'Undo', busy: 'Working…', cancel: () => dialog.close(), send }, problem)]);
  show();

  function targetOf(state) {
    return order ? inOrder(state, order) : reversed(before, after, state);
  }

  function show() {
    render(html`${isChangedSince(before, after, now) ? html`<p class="notice warn">It has changed again since.</p>` : nothing}
      <ul class="sentences">${changeLines(now, target, environment, words).map((line) => html`<li>${line}</li>`)}</ul>`, list);
  }

  async function send() {
    render(nothing, problem);
    const latest = await loadState(toggle, environment);
    if (!same(latest, now)) {
      now = latest;
      target = targetOf(now);
      show();
      render(changedMeanwhile, problem);
      return;
    }
    await bringTo(toggle, environment, now, target);
    dialog.close();
    announce('Undone.');
    changedToggles();
    ended();
  }
}

/** Loads the events of the request of an event that are about the same toggle in the same environment. */
async function eventsOfRequest(event, signal) {
  const { featureName: feature, environment, createdAt, requestId } = event;
  const day = createdAt.slice(0, 10);
  const { events } = await searchEvents({ feature, environment, from: day, to: day }, signal, mostEvents);
  return [event, ...events.filter((other) => other.id !== event.id && other.requestId === requestId && (requestId || other.createdAt === createdAt))];
}

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

/** What is different in two states, in words. */
function changeLines(now, target, environment, words) {
  const change = (label, from, to) => html`${label}${from === '' ? nothing : html`<del>${text(from)}</del>`}${from === '' || to === '' ? nothing : ' → '}${
    to === '' ? nothing : html`<ins>${text(to)}</ins>`}`;
  const lines = target.strategies.flatMap((strategy) => {
    const old = now.strategies.find(({ id }) => id === strategy.id);
    if (!old) return [change('Strategy: ', '', words(strategy))];
    const [from, to] = [words(old), words(strategy)];
    if (from !== to) return [change('Strategy: ', from, to)];
    return Object.keys(strategyLabels).filter((name) => !same(old[name], strategy[name]))
      .map((name) => change(`${strategyLabels[name]} of the strategy “${from}”: `, inline(old[name]), inline(strategy[name])));
  });
  for (const strategy of now.strategies) if (!target.strategies.some(({ id }) => id === strategy.id)) lines.push(change('Strategy: ', words(strategy), ''));
  const order = ({ strategies }) => strategies.map(({ id }) => id);
  const stays = (state, other) => order(state).filter((id) => order(other).includes(id));
  if (!same(stays(now, target), stays(target, now))) lines.push(change('Order: ', '', target.strategies.map(words).join('; ')));
  if (now.enabled !== target.enabled) lines.push(change(`${environment}: `, now.enabled ? 'on' : 'off', target.enabled ? 'on' : 'off'));
  return lines;
}

/** Gives properties the values that they had before an event. */
async function restore(event, { path, load = (of, signal) => read(path(of), { signal }), to = path, names }, changed, { announce, signal }, ended) {
  const problem = element(html`<div role="alert"></div>`);
  const values = element(html`<div></div>`);
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
    render(html`${again ? html`<p class="notice warn">It has changed again since.</p>` : nothing}
      <ul class="sentences">${changed.map((name) => html`<li>${labels[name]}: <del>${shown(name, current.content[name])}</del> → <ins>${
  shown(name, event.preData[name])}</ins></li>`)}</ul>`, values);
  }

  async function send() {
    render(nothing, problem);
    const latest = await load(event, signal); // not everything has an entity tag
    if (!names.every((name) => same(latest.content[name], current.content[name]))) {
      showAgain(latest);
      return;
    }
    const body = Object.fromEntries(names.map((name) => [name, changed.includes(name) ? event.preData[name] : current.content[name]]));
    try {
      await call('PUT', to(event), body, { etag: latest.etag });
    } catch (error) {
      if (error.status !== 412) throw error;
      showAgain(await load(event, signal));
      return;
    }
    dialog.close();
    announce('Undone.');
    changedToggles();
    ended();
  }

  function showAgain(latest) {
    current = latest;
    show();
    render(changedMeanwhile, problem);
  }
}

const changedMeanwhile = html`<p class="error">Someone has changed it meanwhile. Nothing was undone: see what it is now.</p>`;

const same = (a, b) => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const shown = (name, value) => (name === 'lifetimeDays' ? (value === null ? 'never' : counted(value, 'day'))
  : Array.isArray(value) && value.length > 5 ? counted(value.length, 'value') : text(inline(value)));
