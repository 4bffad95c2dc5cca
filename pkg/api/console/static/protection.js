// How the environments of projects are protected: whether changes need a change request, and when nothing changes.

import { call } from './api.js';
import { cached } from './cached.js';
import { projectPath } from './project.js';

const longest = 30_000; // how long a page counts on what it has loaded, in milliseconds

/**
 * How an environment of a project is protected.
 * @typedef {Object} Protection
 * @property {string} environment
 * @property {string} type of the environment
 * @property {boolean} changeRequestEnabled
 * @property {number|null} requiredApprovals
 * @property {boolean} allowTurningOff
 * @property {Freeze[]} [freezes] that have not ended
 * @typedef {{from: string, until: string, reason: string, allProjects: boolean}} Freeze
 */

const protections = cached(async (project) => new Map((await loadProtections(project)).map((one) => [one.environment, one])), longest);

/**
 * Loads the protections of the environments of a project.
 * @param {string} project
 * @param {AbortSignal} [signal]
 * @returns {Promise<Protection[]>}
 */
export const loadProtections = (project, signal) => call('GET', `${projectPath(project)}/change-requests/config`, undefined, { signal });

/** The path of the protection of an environment. */
export const configPath = (project, environment) => `${projectPath(project)}/environments/${encodeURIComponent(environment)}/change-requests/config`;

/** Loads the protection of an environment as a PUT sets it. */
export async function loadConfig(project, environment, signal) {
  const { changeRequestEnabled, requiredApprovals, allowTurningOff } = (await loadProtections(project, signal)).find((one) => one.environment === environment);
  return { changeRequestsEnabled: changeRequestEnabled, requiredApprovals, allowTurningOff };
}

/**
 * Returns the protections of a project by environment, which can be some seconds old.
 * @param {string} project
 * @returns {Promise<Map<string, Protection>>}
 */
export const knownProtections = (project) => protections.get(project);

/** Forgets the protections after a change, or when the API refuses what they permit. */
export const forgetProtections = () => protections.forget();

/**
 * Returns the freeze in which an environment is now, or undefined.
 * @param {Protection} [protection]
 */
export const currentFreeze = (protection, now = Date.now()) => protection?.freezes?.find(({ from, until }) => Date.parse(from) <= now && now < Date.parse(until));
