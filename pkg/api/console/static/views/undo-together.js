// What reverses the changes of several toggles that were made together. It asks once, through the same sheet as the change of one, and leaves
// out the toggles that the user may not change so.

import { call, read } from '../api.js';
import { counted } from '../dom.js';
import { loadEnvironments, namedEnvironment } from '../environment.js';
import { author, searchEvents } from '../event-search.js';
import { changedNames } from '../event-words.js';
import { madeTogether } from '../made-together.js';
import { askedSteps, bringTo, changedSince, loadState } from '../restore.js';
import { html, nothing } from '../template.js';
import { changedToggles, loadToggles, searchToggles, togglePath } from '../toggle.js';
import { wayOf } from '../why.js';
import { listed } from '../words.js';
import { makeChange } from './change-sheet.js';
import { stateItem } from './state-change.js';
import { openAction } from './toggle-actions.js';
import { actionOf, isShortened, ofRequest, resourceOf, restoration, same, stateReversal, stateTypes, switches } from './undo.js';

const pageSize = 1000; // events
const mostPages = 5;
const near = 600_000; // the time around an event in which others are looked for, in milliseconds
const atOnce = 6; // requests
const mostToggles = 1000; // among which those of an event are found by who may not read the event log
const mostNamed = 50; // toggles in a request

/**
 * Returns the item of a menu that reverses an event and those that were made together with it, or null if there are none.
 * @param {Object} event
 * @param {Object[]} events that the page shows
 * @param {{may: Function, asks: Function, announce: Function, signal: AbortSignal}} context of the page
 * @param {() => void} ended called after events were reversed
 */
export function undoTogether(event, events, context, ended) {
  if (permissionOf(event) === undefined) return null;
  const some = madeTogether(event, events);
  if (some.length < 2 || !some.some((one) => mayUndo(one, context))) return null;
  return { label: 'Undo for all toggles…', action: () => reverseAll(event, context, ended).catch((error) => context.signal.aborted || context.announce(`It cannot be undone. ${error.message}`)) };
}

/** The permission that reverses an event, undefined if nothing reverses those that were made together with it. */
const permissionOf = ({ type }) => (type === 'feature-updated' ? resourceOf[type].permission : actionOf[type]?.permission ?? (type in switches ? stateTypes[type] : undefined));

/** Reports whether the user may reverse an event, or ask for that. */
function mayUndo(event, context) {
  const { project, environment, featureName } = event;
  return wayOf({
    permission: permissionOf(event), project, ...environment && { environment }, to: `change ${featureName}`,
    places: environment ? [{ project, environment: { name: environment } }] : [],
  }, context) !== '';
}

async function reverseAll(event, context, ended) {
  const { announce, signal } = context;
  const isState = event.type in switches;
  const around = await eventsAround(event, isState ? Object.keys(stateTypes).join() : event.type, context);
  const all = madeTogether(event, around);
  const events = all.filter((one) => mayUndo(one, context));
  const left = all.filter((one) => !events.includes(one)).map(({ featureName }) => featureName);
  const action = actionOf[event.type];
  if (action) {
    const toggles = await each(events, (one) => call('GET', toggleOf(one), undefined, { signal }));
    const rest = toggles.filter((toggle) => action.applies(toggle));
    if (rest.length === 0) announce(`Nothing to undo: all of them are ${action.past}.`);
    else await openAction({ ...action, explain: (...of) => html`${action.explain(...of)} ${leftOut(left)}` }, rest, context, ended);
    return;
  }
  const environment = isState ? namedEnvironment(await loadEnvironments(signal), event.environment) : null;
  const parts = await each(events, (one) => (isState ? statePart(one, ofRequest(one, around), environment, signal) : valuesPart(one, signal)));
  if (parts.length === 0) announce('Nothing to undo: all of them are as they were before.');
  else await undoParts(parts, left, context, ended);
}

const toggleOf = ({ project, featureName: name }) => togglePath({ project, name });

/** Says which toggles are left out, because the user may not change them so. */
const leftOut = (names) => (names.length === 0 ? nothing : html`<strong>Not undone, because you may not change ${
  names.length === 1 ? 'it' : 'them'}: ${listed(names, 'and')}.</strong>`);

/** Loads the events of the author of an event shortly before and after it. Who may not read the event log names the toggles. */
async function eventsAround(event, type, { may, signal }) {
  if (may('ADMIN')) return eventsOf(event, type, {}, signal);
  const names = [];
  for (const stage of ['', 'archived']) {
    const { total } = await searchToggles({ stage, limit: 1 }, signal);
    if (names.length + total > mostToggles) throw new Error(`There are more than ${mostToggles.toLocaleString('en')} toggles. An Admin can undo the changes in the event log.`);
    await loadToggles({ stage }, total, signal, (toggles) => names.push(...toggles.map(({ name }) => name)));
  }
  const parts = Array.from({ length: Math.ceil(names.length / mostNamed) }, (_, i) => names.slice(i * mostNamed, (i + 1) * mostNamed).join());
  const found = await each(parts, (feature) => eventsOf(event, type, { feature }, signal));
  return found.flat().sort((a, b) => b.id - a.id);
}

async function eventsOf(event, type, which, signal) {
  const { createdAt, environment } = event;
  const day = (time) => new Date(time).toISOString().slice(0, 10);
  const time = Date.parse(createdAt);
  const filters = { ...author(event), ...which, type, environment: environment ?? undefined, from: day(time - near), to: day(time + near) };
  const events = [];
  for (let [page, cursor] = [0, undefined]; page < mostPages; page += 1) {
    const { events: some, next } = await searchEvents({ ...filters, cursor }, signal, pageSize);
    events.push(...some.filter((one) => Math.abs(Date.parse(one.createdAt) - time) < near));
    if (!next || Date.parse(some.at(-1)?.createdAt ?? createdAt) < time - near) return events;
    cursor = next;
  }
  throw new Error('There are too many events of that day. Undo them one by one.');
}

/** Loads something of each of some events or lists of toggles, a few at a time. What is null, or about a toggle that was deleted or moved, is left out. */
async function each(events, load) {
  const results = [];
  const found = (event) => load(event).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  for (let i = 0; i < events.length; i += atOnce) results.push(...await Promise.all(events.slice(i, i + atOnce).map(found)));
  return results.filter(Boolean);
}

/**
 * What is undone of one toggle: the item of the sheet, whether someone has changed it since, and the requests.
 * @typedef {{item: import('./change-sheet.js').Item, isChanged: boolean, send: (write: typeof call) => Promise<unknown>}} Part
 */

/** @returns {Promise<Part|null>} null if the toggle is as it was before */
async function statePart(event, events, environment, signal) {
  const toggle = { project: event.project, name: event.featureName };
  const now = await loadState(toggle, environment.name, signal);
  const { target, isChanged } = stateReversal(events, now, now);
  const item = stateItem(toggle, environment, now, target, { permission: stateTypes[event.type], asked: () => askedSteps(toggle, now, target) });
  if ((await item.lines()).length === 0) return null;
  return {
    item,
    isChanged,
    async send(write) {
      if (!same(await loadState(toggle, environment.name), now)) throw changedSince();
      await bringTo(toggle, environment.name, now, target, write);
    },
  };
}

/** @returns {Promise<Part|null>} null if the toggle has the values */
async function valuesPart(event, signal) {
  const { permission, names } = resourceOf['feature-updated'];
  const { content, etag } = await read(toggleOf(event), { signal });
  const changed = changedNames(event).filter((name) => names.includes(name));
  if (changed.some((name) => isShortened(event.preData[name]))) throw new Error(`The event log does not have all values of ${event.featureName}.`);
  const { isDone, isChanged, body, lines } = restoration(event, names, changed, content);
  if (isDone) return null;
  return {
    item: { name: event.featureName, toggles: [], places: [], permission, lines: () => lines },
    isChanged,
    send: (write) => write('PUT', toggleOf(event), body, { etag }),
  };
}

/** @param {Part[]} parts */
async function undoParts(parts, left, context, ended) {
  const changed = parts.filter(({ isChanged }) => isChanged);
  await makeChange({
    title: `Undo the changes of ${counted(parts.length, 'toggle')}?`,
    submit: 'Undo',
    always: true,
    content: [left.length === 0 ? nothing : html`<p>${leftOut(left)}</p>`, changed.length === 0 ? nothing : html`<p class="notice warn">Changed again since: ${changed.map(({ item }) => item.name).join(', ')}.</p>`],
    items: parts.map(({ item }) => item),
    async send({ write, items, progress }) {
      const chosen = parts.filter(({ item }) => items.includes(item));
      const failed = [];
      for (const [i, part] of chosen.entries()) {
        progress?.(`${i + 1} of ${chosen.length}`);
        await part.send(write).catch((error) => {
          if (error.status === 401) throw error;
          failed.push(`${part.item.name}: ${error.message}`);
        });
      }
      if (failed.length === chosen.length) throw new Error(failed[0]);
      context.announce(failed.length === 0 ? 'Undone.' : `${chosen.length - failed.length} of ${chosen.length} were undone. ${failed[0]}`);
      changedToggles();
      ended();
    },
  }, context);
}
