// The details of a toggle, and the toggle that it depends on.

import { livePlaces } from '../environment.js';
import { linked } from '../linked.js';
import { ownerText } from '../owner.js';
import { html, nothing } from '../template.js';
import { time } from '../time.js';
import { listAddress, removal, toggleAddress } from '../toggle.js';
import { dependencyWords } from '../words.js';
import { offered, wayOf } from '../why.js';
import { openDependencyEditor, removeDependency } from './dependency.js';

/**
 * The template of the details.
 * @param {Object} toggle
 * @param {Object[]} types of toggles
 * @param {Object} context of the page
 */
export function toggleDetails(toggle, types, context) {
  const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
  const toggles = (names) => html`<ul class="values">${names.map((other) => html`<li><a href=${toggleAddress({ project: toggle.project, name: other })}><bdi>${other}</bdi></a></li>`)}</ul>`;
  return html`<section aria-label="Details"><dl class="panel">
    ${fact('Type', html`<a href=${listAddress({ type: toggle.type })}><bdi>${types.find((type) => type.id === toggle.type)?.name ?? toggle.type}</bdi></a>`)}
    ${fact('Project', html`<a href=${listAddress({ project: toggle.project })}><bdi>${toggle.project}</bdi></a>`)}
    ${fact('Created', html`${time(toggle.createdAt)}${toggle.createdBy ? html` <small>by <bdi>${toggle.createdBy.name}</bdi></small>` : nothing}`)}
    ${toggle.archivedAt ? fact('Archived', time(toggle.archivedAt)) : fact('Removal', removal(toggle))}
    ${toggle.owner ? fact('Owner', html`<a href=${listAddress({ owner: ownerText(toggle.owner) })}><bdi>${toggle.owner.name}</bdi></a>`) : nothing}
    ${fact('Impression data', toggle.impressionData ? 'Reported' : 'Not reported')}
    ${fact('Context fields', toggle.contextFields.length === 0 ? 'None' : html`<ul class="values">${toggle.contextFields.map((used) => html`
      <li><a href="#/context?${new URLSearchParams({ query: used })}"><bdi>${used}</bdi></a></li>`)}</ul>`)}
    ${fact('Depends on', dependency(toggle, context))}
    ${toggle.children.length > 0 ? fact('Toggles that depend on it', toggles(toggle.children)) : nothing}
  </dl></section>`;
}

/** Where a toggle is to be changed that files describe. */
export const managedBy = (toggle) => (toggle.managedBy
  ? html`<p class="notice">This toggle is managed by ${linked(toggle.managedBy)}. Change it there.</p>` : nothing);

/** The parent of the toggle, and what can be done with it. A toggle on which others depend has none. */
function dependency(toggle, context) {
  const [parent] = toggle.dependencies;
  const button = (action) => (label) => html`<button type="button" @click=${() => action(toggle, context)}>${label}</button>`;
  const need = { permission: 'UPDATE_FEATURE_DEPENDENCY', project: toggle.project, places: livePlaces(toggle), to: `change what ${toggle.name} depends on` };
  const label = parent ? 'Change dependency' : 'Set dependency';
  return html`${parent ? html`<a href=${toggleAddress({ project: toggle.project, name: parent.feature })}><bdi>${parent.feature}</bdi></a>,
      <span class="detail">and is on only if <bdi>${dependencyWords(parent)}</bdi></span>` : 'No other toggle'}
    ${toggle.children.length > 0 || toggle.archived ? nothing : html`<div class="buttons">${offered(need, context, label, button(openDependencyEditor))}${
  parent && wayOf(need, context) !== '' ? offered(need, context, 'Remove dependency', button(removeDependency)) : nothing}</div>`}`;
}
