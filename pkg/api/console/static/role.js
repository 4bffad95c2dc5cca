// Roles in all views: their paths, their types, and what they grant.

import { call } from './api.js';

export const rolesPath = '/api/admin/roles';
export const rolePath = (id) => `${rolesPath}/${encodeURIComponent(id)}`;
export const roleAddress = ({ id }) => `#/roles/${id}`;

/** Reports whether a role is one of the whole service, not of a project. */
export const isRoot = ({ type }) => type.startsWith('root');
/** Reports whether a role is not one of the six that belong to the service. */
export const isCustom = ({ type }) => type.endsWith('custom');

/** Loads the roles, without their permissions, in the order of their ids. */
export const loadRoles = async (signal) => (await call('GET', rolesPath, undefined, { signal })).roles;

/** Loads the roles that have a permission, with an environment also there. */
export async function loadRolesWith(permission, environment, signal) {
  const query = new URLSearchParams({ permission, ...environment && { environment } });
  return (await call('GET', `${rolesPath}?${query}`, undefined, { signal })).roles;
}

/**
 * Loads what is known of the permissions that decide something.
 * @returns {Promise<{root: Object[], project: Object[], environments: Array<{name: string, permissions: Object[]}>}>}
 */
export const loadPermissions = async (signal) => (await call('GET', '/api/admin/permissions', undefined, { signal })).permissions;

/** Loads a role with its permissions. */
export const loadRole = (id, signal) => call('GET', rolePath(id), undefined, { signal });
