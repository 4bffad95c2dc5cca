// Change requests in all views: their API, addresses and words, and what tells pages that they have changed.

import { call, read } from './api.js';
import { counted } from './dom.js';
import { projectPath } from './project.js';
import { html } from './template.js';
import { listed } from './words.js';

/**
 * A change of a request: the body of a direct operation as its payload.
 * @typedef {{feature?: string, action: string, payload?: unknown}} AskedChange
 */

/** Receives `change` when this tab has changed a request. Its detail is the request, or null if it was deleted. */
export const requestChanges = new EventTarget();

const changed = (request) => requestChanges.dispatchEvent(new CustomEvent('change', { detail: request }));

/** The path of the requests of a project in the API. */
export const requestsPath = (project) => `${projectPath(project)}/change-requests`;

/** The path of a request in the API. */
export const requestPath = ({ project, id }) => `${requestsPath(project)}/${id}`;

/** The address of the page of a request. Without its project, the page finds it. */
export const requestAddress = ({ project, id }) => `#/change-requests/${project ? `${project}/` : ''}${id}`;

/** The address of the list of requests with filters. */
export function requestsAddress(filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `#/change-requests${query.size > 0 ? '?' : ''}${query}`;
}

/**
 * Searches the requests that the caller sees, or those of one project, newest first.
 * @param {{project?: string, state?: string, createdBy?: number, actionable?: boolean, offset?: number, limit?: number}} filters
 * @param {AbortSignal} [signal]
 * @returns {Promise<{requests: Object[], total: number}>}
 */
export async function searchRequests({ project, state, createdBy, actionable, offset, limit }, signal) {
  const query = new URLSearchParams();
  if (project) query.set('project', `IS:${project}`);
  if (state) query.set('state', `IS_ANY_OF:${state}`);
  if (createdBy) query.set('createdBy', `IS:${createdBy}`);
  if (actionable) query.set('actionable', 'IS:true');
  if (offset) query.set('offset', String(offset));
  if (limit) query.set('limit', String(limit));
  const { changeRequests, total } = await call('GET', `/api/admin/search/change-requests?${query}`, undefined, { signal });
  return { requests: changeRequests, total };
}

/** Loads the requests about a toggle that are not closed, newest first. */
export const openRequestsOf = ({ project, name }, signal) => call('GET', `${requestsPath(project)}/pending/${encodeURIComponent(name)}`, undefined, { signal });

/**
 * Adds changes to the caller's draft for an environment, or to a new one. The details of an error name the places of the direct operations.
 * @param {{project: string, environment: string}} place
 * @param {AskedChange[]} changes
 * @returns {Promise<Object>} the draft
 */
export async function ask({ project, environment }, changes) {
  const draft = await call('POST', `${projectPath(project)}/environments/${encodeURIComponent(environment)}/change-requests`, changes).catch((error) => {
    for (const detail of error.details ?? []) detail.path = detail.path.replace(/^\/body\/\d+\/payload/, '/body');
    throw error;
  });
  changed(draft);
  return draft;
}

/**
 * Changes the state of a request, if it is as it was read.
 * @param {{content: Object, etag: string|null}} opened
 * @param {{state: string, comment?: string, scheduledAt?: string}} body
 */
export async function setState({ content, etag }, body) {
  const request = await call('PUT', `${requestPath(content)}/state`, body, { etag });
  changed(request);
  return request;
}

/** Loads a request with its entity tag. */
export const openRequest = (request, signal) => read(requestPath(request), { signal });

/** Deletes a draft. */
export async function deleteDraft(draft) {
  await call('DELETE', requestPath(draft));
  changed(null);
}

/** Removes a change from a request. */
export async function removeChange({ content, etag }, id) {
  await call('DELETE', `${requestPath(content)}/changes/${id}`, undefined, { etag });
  changed((await openRequest(content)).content);
}

/** All changes of a request, in the order in which they are made. */
export const changesOf = ({ features, segments }) => [
  ...features.flatMap(({ name, changes }) => changes.map((change) => ({ ...change, feature: name }))), ...segments,
].sort((a, b) => a.id - b.id);

/** What a request is called: its title, or what it changes. Requests of searches have names of toggles and ids of segments only. */
export function requestTitle({ id, title, features, segments }) {
  if (title) return title;
  const names = [...features.map((feature) => feature.name ?? feature), ...segments.map((segment) => `segment ${segment.name || (segment.id ?? segment)}`)];
  return names.length === 0 ? `Change request ${id}` : `Change of ${listed([...new Set(names)], 'and')}`;
}

/** What the states of requests are called, and their marks. */
const states = {
  Draft: ['Draft', 'quiet'],
  'In review': ['In review', ''],
  Approved: ['Approved', 'good'],
  Scheduled: ['Scheduled', ''],
  Applied: ['Applied', 'quiet'],
  Rejected: ['Rejected', 'bad'],
  Cancelled: ['Canceled', 'quiet'],
};

/** The state of a request, as a mark. */
export function requestBadge({ state, schedule }) {
  const [label, kind] = states[state];
  if (schedule?.status === 'failed') return html`<span class="badge bad">Schedule failed</span>`;
  if (schedule?.status === 'suspended') return html`<span class="badge warn">Schedule suspended</span>`;
  return html`<span class="badge ${kind}">${label}</span>`;
}

/** How many changes a request has. */
export const changeCount = (request) => counted(changesOf(request).length, 'change');

/** Reports whether a change of a request would have another result than those who approve it see. */
export const hasConflict = ({ features, segments }) => features.some(({ conflict }) => conflict) || segments.some(({ conflict }) => conflict);
