// The permissions of a role as a table: a row for each permission, a column for the project, and one for each environment.
//
// A permission of a role has a key: its name or, in one environment, the name and the environment, separated by a space.

import { environmentName } from './environment.js';
import { html, live, nothing, repeat } from './template.js';

/** The most environments that a permission can have on a card, as which a phone shows it. With more, the table scrolls. */
const mostOnCard = 6;

export const keyOf = (name, environment) => (environment ? `${name} ${environment}` : name);

/** The name and the environment of a key. Names have no spaces. */
export function partsOf(key) {
  const at = key.indexOf(' ');
  return at < 0 ? { name: key } : { name: key.slice(0, at), environment: key.slice(at + 1) };
}

/**
 * The permissions that decide something here, as rows.
 * @param {{root: Object[], project: Object[], environments: Array<{name: string, permissions: Object[]}>}} catalog GET /api/admin/permissions
 * @param {boolean} ofService those of the whole service, otherwise those in a project
 * @returns {Array<{name: string, displayName: string, environments: string[]|null}>} without environments, it is one of the project or of all
 */
export function rowsOf({ root, project, environments }, ofService) {
  const rows = (permissions, names) => permissions.map(({ name, displayName }) => ({ name, displayName, environments: names }));
  return ofService ? rows(root, null) : [...rows(environments[0]?.permissions ?? [], environments.map(({ name }) => name)), ...rows(project, null)];
}

/**
 * The template of the table.
 * @param {Object} options
 * @param {string} options.caption for screen readers
 * @param {Array<{name: string, displayName: string, environments: string[]|null}>} options.rows see `rowsOf`
 * @param {Array<{name: string, type: string}>} options.environments the columns; none for permissions of the whole service
 * @param {string} [options.place] the head of the column of permissions without an environment
 * @param {(key: string) => boolean} options.has
 * @param {(keys: string[], on: boolean) => void} [options.change] makes the table one of boxes
 */
export function roleMatrix({ caption, rows, environments, place = 'Project', has, change }) {
  const keysIn = (environment) => rows.filter(({ environments: of }) => Boolean(of) === (environment !== null)).map(({ name }) => keyOf(name, environment));
  return html`<div class="matrix ${environments.length > mostOnCard ? 'wide' : ''}" role="region" aria-label=${caption} tabindex="0"><table role="table">
    <caption class="visually-hidden">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      <th role="columnheader" scope="col">Permission</th>
      <th role="columnheader" scope="col">${place}${all(keysIn(null), 'All in this column')}</th>
      ${environments.map((one) => html`<th role="columnheader" scope="col">${environmentName(one)}${all(keysIn(one.name), `All in ${one.name}`)}</th>`)}
    </tr></thead>
    <tbody role="rowgroup">${repeat(rows, ({ name }) => name, row)}</tbody></table></div>`;

  function row({ name, displayName, environments: of }) {
    const nowhere = html`<td role="cell" class="nowhere"></td>`;
    return html`<tr role="row">
      <th role="rowheader" scope="row">${displayName} <small><code>${name}</code></small></th>
      ${of ? nowhere : cell(name, displayName)}
      ${environments.map((one) => (of ? cell(name, displayName, one.name) : nowhere))}</tr>`;
  }

  function cell(name, displayName, environment) {
    const key = keyOf(name, environment);
    const label = environment ? `${displayName} in ${environment}` : displayName;
    const shown = environment ? html`<bdi class="place">${environment}</bdi>` : html`<span class="place">${place}</span>`;
    return html`<td role="cell">${change ? html`<label><input type="checkbox" aria-label=${label} .checked=${live(has(key))}
      @change=${({ target }) => change([key], target.checked)}>${shown}</label>`
      : has(key) ? html`<span class="holds"><span aria-hidden="true">✓</span><span class="visually-hidden">Yes</span> ${shown}</span>`
        : html`<span class="detail"><span aria-hidden="true">–</span><span class="visually-hidden">No</span> ${shown}</span>`}</td>`;
  }

  /** The box that chooses a column. */
  function all(keys, label) {
    if (!change || keys.length === 0) return nothing;
    const on = keys.filter(has).length;
    return html` <input type="checkbox" aria-label=${label} title=${label} .checked=${live(on === keys.length)} .indeterminate=${on > 0 && on < keys.length}
      @change=${({ target }) => change(keys, target.checked)}>`;
  }
}
