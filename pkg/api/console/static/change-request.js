// Change requests in all views: their API, and what tells pages that they have changed.

import { call } from './api.js';
import { projectPath } from './project.js';

/**
 * A change of a request: the body of a direct operation as its payload.
 * @typedef {{feature?: string, action: string, payload?: unknown}} AskedChange
 */

/** Receives `draft` with the caller's draft as its detail when changes were added to it. */
export const requestChanges = new EventTarget();

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
  requestChanges.dispatchEvent(new CustomEvent('draft', { detail: draft }));
  return draft;
}
