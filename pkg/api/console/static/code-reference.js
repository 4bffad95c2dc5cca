// Where source code has the names of toggles, as pipelines report it.

import { call } from './api.js';
import { counted } from './dom.js';
import { html, nothing } from './template.js';
import { exactTime, shortDate } from './time.js';
import { togglePath } from './toggle.js';

/**
 * Loads how often code has the names of toggles, and returns a function that says it of a toggle: undefined if no repository has reported for its
 * project.
 * @param {string} project '': all
 * @param {AbortSignal} signal
 */
export async function loadCodeReferences(project, signal) {
  const query = project ? `?${new URLSearchParams({ project: `IS:${project}` })}` : '';
  const { features } = await call('GET', `/api/admin/code-references${query}`, undefined, { signal });
  const known = new Map(features.map((found) => [`${found.project}/${found.name}`, found]));
  return (toggle) => known.get(`${toggle.project}/${toggle.name}`);
}

/** Loads the places that have the name of a toggle. */
export const loadPlaces = (toggle, signal) => call('GET', `${togglePath(toggle)}/code-references`, undefined, { signal });

/**
 * In words, how often code has the name of a toggle, such as "3 places in 2 repositories".
 * @param {{places: number, repositories: number, absentSince: string|null}} found
 * @param {Object} toggle
 * @param {(value: string) => string} [day] the text of a date
 */
export function codeWords({ places, repositories, absentSince }, toggle, day = shortDate) {
  if (places > 0) return `${counted(places, 'place')} in ${counted(repositories, 'repository', 'repositories')}`;
  if (!absentSince) return 'in no repository';
  const asked = toggle.lastSeenAt && toggle.lastSeenAt > absentSince;
  return `in no repository since ${day(absentSince)}${toggle.archived ? '' : asked ? ', but applications have used it since' : ': safe to archive'}`;
}

/**
 * The places that have the name of a toggle.
 * @param {{places: number, absentSince: string|null, repositories: Object[]}} found
 * @param {Object} toggle
 */
export function placesOfToggle(found, toggle) {
  const { repositories } = found;
  const words = codeWords({ ...found, repositories: repositories.filter(({ places }) => places.length > 0).length }, toggle);
  return html`<section class="code-places" aria-label="Code">
    <h2>Code</h2>
    ${repositories.length === 0 ? html`<p class="detail">No repository has reported for this project. A pipeline does it with <code>toggleadmin code-references scan</code>.</p>`
    : html`<p>${words[0].toUpperCase()}${words.slice(1)}.</p>${repositories.map(repository)}`}
  </section>`;
}

function repository({ repository: name, revision, reportedAt, absentSince, places }) {
  return html`<h3><bdi>${name}</bdi></h3>
    <p class="detail">Reported <time datetime=${reportedAt} title=${exactTime(reportedAt)}>${shortDate(reportedAt)}</time>${
  revision ? html`, revision <bdi>${revision.slice(0, shown)}</bdi>` : nothing}.${absentSince ? ` Without this toggle since ${shortDate(absentSince)}.`
  : places.length === 0 ? ' Without this toggle.' : nothing}</p>
    ${places.length === 0 ? nothing : html`<ul>${places.map(({ path, line, url }) => html`<li>${url
    ? html`<a href=${url} target="_blank" rel="noopener noreferrer"><bdi>${path}:${line}</bdi><span aria-hidden="true"> ↗</span></a>` : html`<bdi>${path}:${line}</bdi>`}</li>`)}</ul>`}`;
}

const shown = 12; // characters of a revision
