// People and groups in all views: their paths and addresses.

import { call } from './api.js';
import { projectsPath } from './project.js';

export const peoplePath = '/api/admin/user-admin';
export const personPath = (id) => `${peoplePath}/${encodeURIComponent(id)}`;
export const personAddress = ({ id }) => `#/people/${id}`;
export const groupsPath = '/api/admin/groups';
export const groupPath = (id) => `${groupsPath}/${encodeURIComponent(id)}`;
export const groupAddress = ({ id }) => `#/groups/${id}`;

/** The address of the page of an account. Service accounts have other pages than people. */
export const accountPage = ({ id, accountType }) => (accountType === 'Service Account' ? `#/service-accounts/${id}` : personAddress({ id }));

/** What a person, or a service account, is called. */
export const accountName = ({ id, name, username, email }) => name || username || email || `User ${id}`;

/** Finds people and service accounts whose names have a text. The search needs a user. */
export const findAccounts = (text, signal) => call('GET', `${peoplePath}/search?${new URLSearchParams({ q: text })}`, undefined, { signal });

/** Loads the groups that exist, without their members. */
export const loadGroups = async (signal) => (await call('GET', groupsPath, undefined, { signal })).groups;

/**
 * Loads people with their root roles and groups, and the root roles that they can have. Their tokens are null.
 * @param {AbortSignal} signal
 * @param {string} [only] the id of the only one
 * @returns {Promise<{people: Object[], roles: Object[]}>}
 */
export async function loadPeople(signal, only = undefined) {
  const [{ users, rootRoles }, groups] = await Promise.all([
    call('GET', only === undefined ? peoplePath : `${peoplePath}?${new URLSearchParams({ ids: only })}`, undefined, { signal }), loadGroups(signal),
  ]);
  const byId = (all) => new Map(all.map((one) => [one.id, one]));
  const [roleOf, groupOf] = [byId(rootRoles), byId(groups)];
  return {
    roles: rootRoles,
    people: users.map((person) => ({
      ...person,
      role: roleOf.get(person.rootRole) ?? { id: person.rootRole, name: `Role ${person.rootRole}` },
      groups: person.groups.map((id) => groupOf.get(id)).filter(Boolean),
      tokens: null,
    })),
  };
}

/**
 * Loads in which projects that the caller sees some accounts and groups have roles. Without them, it is for all, and without roles, for all roles.
 * @param {{users?: number[], groups?: number[], roles?: number[]}} ids
 * @param {AbortSignal} signal
 * @returns {Promise<Array<{project: Object, users: Object[], groups: Object[]}>>} `roles` of users and groups are ids
 */
export async function loadGrants(ids, signal) {
  const query = new URLSearchParams(Object.entries(ids).filter(([, some]) => some.length > 0).map(([name, some]) => [name, some.join()]));
  const { projects } = await call('GET', `${projectsPath}?${query}`, undefined, { signal });
  return projects.map(({ access, ...project }) => ({ project, ...access }));
}
