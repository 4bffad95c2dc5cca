// People and groups in all views: their paths and addresses.

import { call } from './api.js';
import { loadProjects, projectPath } from './project.js';
import { inTurn } from './role.js';

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
 * Loads who has which roles in the projects that the caller sees and that have members.
 * @returns {Promise<Array<{project: Object, users: Object[], groups: Object[], roles: Object[]}>>}
 */
export async function loadMembers(signal) {
  const projects = (await loadProjects(signal)).filter(({ memberCount }) => memberCount > 0);
  return inTurn(projects, async (project) => ({ project, ...await call('GET', `${projectPath(project.id)}/access`, undefined, { signal }) }));
}
