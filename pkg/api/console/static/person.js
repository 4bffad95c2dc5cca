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

/** Loads the groups that exist, without their members. */
export const loadGroups = async (signal) => (await call('GET', groupsPath, undefined, { signal })).groups;

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
