// The open change requests of a toggle.

import { requestAddress, requestBadge, requestTitle } from '../change-request.js';
import { text } from '../dom.js';
import { environmentName, namedEnvironment } from '../environment.js';
import { html, nothing } from '../template.js';

/**
 * The template of what people ask for, by environment.
 * @param {Object[]} requests
 * @param {{environments: Array<{name: string, type: string}>}} toggle
 */
export function askedFor(requests, { environments }) {
  if (requests.length === 0) return nothing;
  const sorted = requests.toSorted((a, b) => a.environment.localeCompare(b.environment, 'en'));
  return html`<section class="notice open-requests" aria-label="Open change requests">${sorted.map((request) => html`<p>${
    environmentName(namedEnvironment(environments, request.environment))}: <a href=${requestAddress(request)}>${text(requestTitle(request))}</a>
    ${requestBadge(request)} <span class="detail">by <bdi>${request.createdBy.username}</bdi></span></p>`)}</section>`;
}
