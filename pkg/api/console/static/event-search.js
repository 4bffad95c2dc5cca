// Searches of the event log.

import { call } from './api.js';
import { types } from './event-types.js';

/** The types of events that no person causes directly: the passing of time, or a change of something else. */
export const automaticTypes = ['feature-potentially-stale-on', 'feature-potentially-stale-off', 'token-expiring'];

/** The other types, as a filter. */
export const peopleTypes = Object.values(types).flatMap(Object.keys).filter((type) => !automaticTypes.includes(type)).join(',');

/**
 * Requests a page of events, newest first.
 * @param {Object<string, string>} filters by the names of the API's parameters, and `cursor`: `next` of the page before
 * @param {AbortSignal} [signal]
 * @param {number} [limit]
 * @returns {Promise<{events: Array, total: number, totalExact: boolean, next?: string, searchedTo?: string}>}
 */
export function searchEvents(filters, signal, limit = 50) {
  const query = new URLSearchParams({ limit: String(limit) });
  for (const [name, value] of Object.entries(filters)) {
    if (value === undefined) continue;
    const operator = ['type', 'environment', 'feature'].includes(name) && value.includes(',') ? 'IS_ANY_OF:' : 'IS:';
    query.set(name, ['query', 'offset', 'cursor'].includes(name) ? value : operator + value);
  }
  return call('GET', `/api/admin/search/events?${query}`, undefined, { signal });
}

/** The types of the events that a lifetime can cause, by what the change does. */
const effectTypes = { on: 'feature-potentially-stale-on', off: 'feature-potentially-stale-off' };

/** The filters of the events that another lifetime has caused. The service re-evaluates toggles within seconds, so that it ends with the next day. */
export function effectFilters({ id, createdAt, data, preData }) {
  const day = (value) => new Date(value).toISOString().slice(0, 10);
  const isLonger = (data.lifetimeDays ?? Infinity) > (preData.lifetimeDays ?? Infinity);
  return { query: String(id), type: isLonger ? effectTypes.off : effectTypes.on, from: day(createdAt), to: day(Date.parse(createdAt) + 86_400_000) };
}

/** The filter of everything that the author of an event did. */
export function author({ createdBy, createdByUserId, createdByTokenId }) {
  if (createdByUserId !== null) return { createdBy: createdByUserId };
  return createdByTokenId !== null ? { token: createdByTokenId } : { query: createdBy };
}
