// Toggles in all views: addresses, searches, stages, and the numbers of toggles by their stage.

import { call } from './api.js';
import { counted } from './dom.js';
import { html } from './template.js';
import { daysBetween, exactTime, relativeDays, relativeTime, shortDay } from './time.js';

/** The number of toggles on a page. */
export const pageSize = 50;
const mostToggles = 100; // in one page of a search
const atOnce = 4; // searches

/** The path of a toggle in the API. */
export const togglePath = ({ project, name }) => `/api/admin/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;

/** The address of the page of a toggle. */
export const toggleAddress = ({ project, name }) => `#/toggles/${project}/${name}`;

/** The address of the list with filters. */
export function listAddress(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#/toggles${query.size > 0 ? '?' : ''}${query}`;
}

const operator = /^(IS(_NOT|_ANY_OF|_NONE_OF|_BEFORE|_ON_OR_AFTER)?|INCLUDE(_ANY_OF|_ALL_OF)?|DO_NOT_INCLUDE|EXCLUDE_IF_ANY_OF|EXCLUDE_ALL):/;

/** Reports whether a filter is one value, which toggles have: then it is this value, without the operator of the API. */
export const isPlain = (filter) => !operator.test(filter);

/** A filter of the API without its operator, if it is one value. */
export const plain = (filter) => {
  const value = filter.replace(/^(IS|INCLUDE):/, '');
  return isPlain(value) ? value : filter;
};

const others = ['query', 'createdBefore', 'sortBy', 'sortOrder', 'offset', 'limit', 'favoritesFirst']; // parameters of a search without an operator

/** The parameters of the API for a search with filters, each of which is a value, or an operator of the API and values. */
export const searchQuery = (filters) => new URLSearchParams(Object.entries(filters).filter(([, value]) => value).map(([name, value]) => (
  [name, others.includes(name) || !isPlain(value) ? String(value) : `${name === 'tag' ? 'INCLUDE' : 'IS'}:${value}`])));

/**
 * Searches toggles.
 * @param {Object} filters see `searchQuery`
 * @param {AbortSignal} [signal]
 */
export const searchToggles = (filters, signal) => call('GET', `/api/admin/search/features?${searchQuery({ limit: pageSize, ...filters })}`, undefined, { signal });

/** Loads all toggles that match filters, a few pages at a time, and calls `add` with the toggles of each. `total` is their number. */
export async function loadToggles(filters, total, signal, add) {
  const offsets = Array.from({ length: Math.ceil(total / mostToggles) }, (_, i) => i * mostToggles);
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (offsets.length > 0 && !signal.aborted) {
      const { features } = await searchToggles({ ...filters, sortBy: 'name', offset: offsets.shift(), limit: mostToggles }, signal);
      add(features);
    }
  }));
}

const countsPath = '/api/admin/search/features/counts';
let counting = null; // the request that counts all toggles

/** Counts all toggles, once for all who ask meanwhile. */
async function countAll() {
  const request = call('GET', countsPath);
  counting = request;
  try {
    const content = await request;
    if (counting === request) toggleChanges.dispatchEvent(new CustomEvent('counted', { detail: byStage(content.total) }));
    return content;
  } finally {
    if (counting === request) counting = null;
  }
}

/**
 * Counts the toggles of a project, or of all, by their stage: in total, and of each type and project.
 * @returns {Promise<{total: Object, types: Map<string, Object>, projects: Map<string, Object>}>} numbers by stage, and with the key '' of all that are not archived
 */
export async function countToggles(project, signal) {
  const { total, types, projects } = await (project
    ? call('GET', `${countsPath}?${new URLSearchParams({ project: `IS:${project}` })}`, undefined, { signal }) : counting ?? countAll());
  signal?.throwIfAborted();
  return {
    total: byStage(total),
    types: new Map(types.map((item) => [item.type, byStage(item)])),
    projects: new Map(projects.map((item) => [item.project, byStage(item)])),
  };
}

const byStage = ({ active, stale, potentiallyStale, stages }) => ({ '': active + stale + potentiallyStale, ...stages });

/** What the stages are called. */
export const stageNames = {
  '': 'Not archived', new: 'New', 'rolling-out': 'Rolling out', complete: 'Complete', overdue: 'Overdue', 'to-remove': 'To be removed', archived: 'Archived',
};

/** The numbers of a type or project without toggles. */
export const noToggles = Object.fromEntries(Object.keys(stageNames).map((stage) => [stage, 0]));

const stageKinds = { complete: 'good', overdue: 'warn', 'to-remove': 'bad' };

/** The stage of a toggle, as a mark. */
export const stageBadge = ({ stage }) => html`<span class="badge ${stageKinds[stage] ?? 'quiet'}">${stageNames[stage]}</span>`;

/** Reports whether a toggle is kept: until its date begins, in UTC. */
export const isKept = ({ keepUntil }, now = Date.now()) => keepUntil !== null && keepUntil > new Date(now).toISOString().slice(0, 10);

/** When a toggle is due for removal, in words: it is overdue when it is older than the lifetime of its type, unless it is kept. */
export function removal(toggle) {
  const { archived, stale, potentiallyStale, potentiallyStaleAt: at } = toggle;
  if (archived) return html`<span class="detail">–</span>`;
  if (stale) return html`<span class="removal bad">To be removed</span>`;
  if (isKept(toggle)) return html`<span class="removal" title=${toggle.keepReason ?? ''}>Kept until ${shortDay(toggle.keepUntil)}</span>`;
  if (!at) return html`<span class="detail">Never</span>`;
  const days = daysBetween(at, Date.now());
  const overdue = days > 0 ? `${counted(days, 'day')} overdue` : 'Overdue';
  return html`<time datetime=${at} title=${exactTime(at)} class=${potentiallyStale ? 'removal warn' : 'removal'}>${
    potentiallyStale ? overdue : relativeDays(at)}</time>`;
}

/** When applications last used a toggle, in all environments or in one, in one line. */
export const lastUsed = ({ lastSeenAt: at }) => (at
  ? html`<time datetime=${at} title=${exactTime(at)}>${timeOfUse(at)}</time>` : html`<span class="detail">Never</span>`);

/** The time of the last use in words. It is exact to the day, because it decides whether a toggle can be removed. */
export function timeOfUse(at) {
  const now = Date.now();
  const used = Math.min(Date.parse(at), now); // the clock of the service may be ahead
  return now - used < 86_400_000 ? relativeTime(used, now) : relativeDays(at);
}

/** Loads the newest event of a toggle, undefined if there is none. With types, separated by commas, only their events count. */
export async function newestChange({ name }, type, signal) {
  const { searchEvents } = await import('./event-search.js'); // the list of toggles does not need it
  const { events: [event] } = await searchEvents({ feature: name, type }, signal, 1);
  return event;
}

/** The numbers of toggles by their stage, for the latest filters. */
export const counts = { key: null, of: {} };

/** Forgets the numbers after a change. */
export function forgetCounts() {
  counts.key = null;
  counting = null;
}

/**
 * Receives `change` when this tab has changed toggles, so that the page that shows them loads them again, and `counted` with the numbers by
 * stage when all toggles were counted.
 */
export const toggleChanges = new EventTarget();

/** Tells the page that toggles have changed. */
export function changedToggles() {
  forgetCounts();
  toggleChanges.dispatchEvent(new Event('change'));
}

/** The latest address of the list, to which the page of a toggle leads back, and the toggles that it shows. */
export const latestList = { address: '#/toggles', toggles: [] };
