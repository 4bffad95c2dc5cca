import { credential, signOut } from './session.js';

/** An error that the API returned, or status 0 if it could not be reached. */
export class ApiError extends Error {
  constructor(status, { name = '', message = '', id = '' }) {
    super(message);
    this.status = status;
    this.name = name;
    this.id = id;
  }
}

/**
 * Calls the API.
 * @param {string} method
 * @param {string} path such as /api/admin/context
 * @param {unknown} [body] sent as JSON
 * @returns {Promise<any>} the response, or null if it has no body
 */
export async function call(method, path, body) {
  const headers = { Authorization: credential() ?? '' };
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
  }
  let response, text;
  try {
    response = await fetch(`..${path}`, { method, headers, body: JSON.stringify(body) });
    text = await response.text();
  } catch {
    throw new ApiError(0, { message: 'The API cannot be reached.' });
  }
  let value = null;
  try {
    value = text && JSON.parse(text);
  } catch {
    throw new ApiError(response.status, { message: `The response with status ${response.status} is not JSON.` });
  }
  if (response.ok) {
    return value || null;
  }
  const error = new ApiError(response.status, value || {});
  if (error.status === 401) {
    signOut(error.message);
  }
  throw error;
}
