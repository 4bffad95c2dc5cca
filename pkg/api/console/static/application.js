// Applications in all views: their API, their addresses and their names.

import { call } from './api.js';
import { text } from './dom.js';
import { html } from './template.js';

/** The path of the applications in the API. */
export const applicationsPath = '/api/admin/metrics/applications';

/** What stands for the applications beyond the number that the service counts. */
const others = '(other)';

/** The address of the page of an application. */
export const applicationAddress = (name) => `#/usage/applications/${encodeURIComponent(name)}`;

/** The name of an application as a link to its page, if it has one. */
export const applicationLink = (name, shown = text(name)) => (name === others ? shown : html`<a href=${applicationAddress(name)}>${shown}</a>`);

/** Returns when an application reported last, or null if none has. */
export async function newestReport(signal) {
  const { applications } = await call('GET', `${applicationsPath}?sortBy=lastSeenAt&sortOrder=desc&limit=1`, undefined, { signal });
  return applications[0]?.lastSeenAt ?? null;
}
