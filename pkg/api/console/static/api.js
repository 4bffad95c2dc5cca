// Calls of the API.

import { isLost } from './connection.js';
import { credential, signOut } from './session.js';

/** The names of the root roles by their IDs. */
export const roles = { 1: 'Admin', 2: 'Editor', 3: 'Viewer' };

/** An error response of the API, or a request without a response (status 0). */
class ApiError extends Error {
  /** @param {number} status @param {{name?: string, message?: string, id?: string, details?: import('./messages.js').Detail[]}} error */
  constructor(status, { name, message, id, details = [] }) {
    super(message);
    this.status = status;
    this.name = name;
    this.id = id;
    this.details = details;
  }
}

/** The error of a request without a response. Its name is another one if only this request got none. */
export const noConnection = (name = 'NoConnection') => new ApiError(0, {
  name, message: 'The API cannot be reached. Check your connection and try again.',
});

/**
 * How a request is sent: `signal` cancels it, `token` is used instead of the session's, `etag` is what the resource must have, and with
 * `isNew` it must not exist: otherwise the API changes nothing and answers 412. `reason` is why something is changed, for the event log.
 * @typedef {{signal?: AbortSignal, token?: string, etag?: string, isNew?: boolean, reason?: string}} Options
 */

/**
 * Sends a request and returns the parsed body, or null if the body is empty. A 401 also ends the session.
 * @param {string} method
 * @param {string} path such as /api/admin/context, below the stage that serves this page
 * @param {unknown} [body]
 * @param {Options} [options]
 */
export const call = async (method, path, body, options) => (await send(method, path, body, options)).content;

/**
 * Returns the content of a resource, and its entity tag, which is null if a proxy has removed it.
 * @param {string} path
 * @param {Options} [options]
 */
export const read = (path, options) => send('GET', path, undefined, options);

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {Options} [options]
 */
async function send(method, path, body, { signal, token = credential(), etag, isNew, reason } = {}) {
  if (path.split(/[?/]/).some((segment) => segment === '.' || segment === '..')) {
    throw new ApiError(400, { name: 'ValidationError', message: 'A name must not be . or .., because browsers remove these from a path.' });
  }
  // A proxy that compresses responses makes entity tags weak, which never match. Those of this API identify the content, not its bytes.
  const headers = { Authorization: token ?? '', Prefer: 'error-details', ...etag && { 'If-Match': etag.replace(/^W\//, '') }, ...isNew && { 'If-None-Match': '*' },
    ...reason && { 'Change-Reason': encodeURIComponent(reason) } };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let response, text;
  try {
    // This module is at <stage>/console/<folder>/api.js.
    const url = new URL(`../..${path}`, import.meta.url);
    response = await fetch(url, { method, headers, body: JSON.stringify(body), signal });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    const lost = await isLost();
    if (signal?.aborted) throw error;
    throw noConnection(lost ? 'NoConnection' : 'Unreachable');
  }
  const content = parse(text);
  if (response.ok && content !== undefined) return { content, etag: response.headers.get('ETag') };
  // Another sign-in may have replaced the credential while the request was under way.
  if (response.status === 401 && token === credential()) signOut(true);
  throw new ApiError(response.status, content?.message ? content : {
    name: 'UnknownError', message: `The API sent an unexpected response with the status ${response.status}.`,
  });
}

/** Returns the value of a JSON text, null for an empty text, and undefined for every other text. */
function parse(text) {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
