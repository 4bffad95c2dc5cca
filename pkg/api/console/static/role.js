// Roles in all views: their paths, their types, and what they grant.

import { call } from './api.js';

export const rolesPath = '/api/admin/roles';
export const rolePath = (id) => `${rolesPath}/${encodeURIComponent(id)}`;
export const roleAddress = ({ id }) => `#/roles/${id}`;

const atOnce = 4; // requests

/** Reports whether a role is one of the whole service, not of a project. */
export const isRoot = ({ type }) => type.startsWith('root');
/** Reports whether a role is not one of the six that belong to the service. */
export const isCustom = ({ type }) => type.endsWith('custom');

/** Loads the roles, without their permissions, in the order of their ids. */
export const loadRoles = async (signal) => (await call('GET', rolesPath, undefined, { signal })).roles;

/**
 * Loads the roles that a filter selects, or all, with their permissions.
 * @param {AbortSignal} signal
 * @param {(role: Object) => boolean} [selects]
 */
export async function loadGrants(signal, selects = undefined) {
  return inTurn((await loadRoles(signal)).filter(selects ?? Boolean), ({ id }) => call('GET', rolePath(id), undefined, { signal }));
}

/**
 * Calls an asynchronous function with each item, a few at a time, and returns the results in the order of the items.
 * @template T, R
 * @param {T[]} items
 * @param {(item: T) => Promise<R>} load
 * @returns {Promise<R[]>}
 */
export async function inTurn(items, load) {
  const results = [];
  const left = items.map((item, i) => ({ item, i }));
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next.i] = await load(next.item);
  }));
  return results;
}
