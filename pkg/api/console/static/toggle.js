// Toggles in all views: addresses, searches, states, and the numbers of toggles by their state.

import { call } from './api.js';
import { h, relativeDays, shortDate } from './dom.js';

/** The number of toggles on a page. */
export const pageSize = 50;

/** The path of a toggle in the API. */
export const togglePath = ({ project, name }) => `/api/admin/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;

/** The address of the page of a toggle. */
export const toggleAddress = ({ project, name }) => `#/toggles/${project}/${name}`;

/** The address of the list with filters. */
export function listAddress(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#/toggles${query.size > 0 ? '?' : ''}${query}`;
}

/** Searches toggles. The state `archived` selects the archived ones. */
export function searchToggles({ query, state, type, project, contextField, ...rest }, signal) {
  const parameters = new URLSearchParams({ limit: pageSize, ...rest });
  if (query) parameters.set('query', query);
  if (state === 'archived') parameters.set('archived', 'IS:true');
  else if (state) parameters.set('state', `IS:${state}`);
  for (const [name, value] of Object.entries({ type, project, contextField })) if (value) parameters.set(name, `IS:${value}`);
  return call('GET', `/api/admin/search/features?${parameters}`, undefined, { signal });
}

/**
 * Counts the toggles of a project, or of all, by their state: in total, and of each type.
 * @returns {Promise<{total: Object, types: Map<string, Object>}>} numbers by the states of `listAddress`
 */
export async function countToggles(project, signal) {
  const query = project ? `?${new URLSearchParams({ project: `IS:${project}` })}` : '';
  const { total, types } = await call('GET', `/api/admin/search/features/counts${query}`, undefined, { signal });
  return { total: byState(total), types: new Map(types.map((item) => [item.type, byState(item)])) };
}

const byState = ({ active, stale, potentiallyStale, archived }) => (
  { '': active + stale + potentiallyStale, active, 'potentially-stale': potentiallyStale, stale, archived });

/** The numbers of a type without toggles. */
export const noToggles = byState({ active: 0, stale: 0, potentiallyStale: 0, archived: 0 });

/** The state of a toggle, as a mark. */
export function stateBadge(toggle) {
  if (toggle.archived) return h('span', { class: 'badge quiet' }, 'Archived');
  if (toggle.stale) return h('span', { class: 'badge bad' }, 'Stale');
  if (toggle.potentiallyStale) return h('span', { class: 'badge warn' }, 'Potentially stale');
  return h('span', { class: 'badge good' }, 'Active');
}

/** When a toggle becomes or became potentially stale. */
export function staleTime({ archived, stale, potentiallyStaleAt: at }) {
  if (at) return h('time', { datetime: at }, h('span', null, relativeDays(at)), h('small', null, shortDate(at)));
  return h('span', { class: 'detail' }, archived || stale ? '–' : 'Never');
}

/** The numbers of toggles by their state, for the latest filters. */
export const counts = { key: null, of: {} };

/** Forgets the numbers after a change. */
export function forgetCounts() {
  counts.key = null;
}
