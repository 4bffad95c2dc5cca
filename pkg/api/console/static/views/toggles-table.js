// The table of the list of toggles.

import { divide } from '../columns.js';
import { counted } from '../dom.js';
import { environmentName, offeredSwitch } from '../environment.js';
import { star } from '../favorite.js';
import { menu } from '../menu.js';
import { cut, marked } from '../search.js';
import { html, live, nothing, repeat } from '../template.js';
import { exactTime, relativeDays } from '../time.js';
import { lastUsed, listAddress, pageSize, removal, stageBadge, toggleAddress, togglePath } from '../toggle.js';
import { lockedItem } from '../why.js';
import { order, orders } from './toggles-filters.js';

/** How the list looks. The browser keeps it under the key. */
export const view = {
  key: 'toggles-view',
  read: () => ({ isComfortable: false, hidden: [], ...JSON.parse(window.localStorage.getItem(view.key) ?? '{}') }),
};

/** Matches where each of five environments has a column. */
export const isWide = window.matchMedia('(min-width: 88rem)');

/**
 * The template of the table, and of the links to other pages.
 * @param {Object} state that of the list
 * @param {Object} selection see `toggleSelection`
 * @param {Object} context of the page
 * @param {() => void} draw
 */
export function toggleTable(state, selection, context, draw) {
  const { may } = context;
  const { filters, page: { features, total } } = state;
  const { columns, others } = divide(state.environments, isWide.matches ? 5 : 3);
  const { isComfortable, hidden } = view.read();
  const has = (column) => !hidden.includes(column);
  const isArchive = filters.stage === 'archived';
  return html`
    <table role="table" class="dense toggles ${isComfortable ? 'comfortable' : 'lines'} ${columns.length > 3 ? 'many' : ''}">
      <caption class="visually-hidden">Toggles</caption>
      <thead role="rowgroup"><tr role="row">
        ${selection.mayChange() ? html`<th role="columnheader" scope="col" class="pick">${selection.pagePicker(features)}</th>` : nothing}
        ${heading(filters, 'name')}${has('project') ? heading(filters, 'project', 'project') : nothing}
        ${has('owner') ? html`<th role="columnheader" scope="col" class="owner optional">Owner</th>` : nothing}
        ${has('stage') ? html`<th role="columnheader" scope="col" class="stage">Stage</th>` : nothing}
        ${columns.map((environment) => html`<th role="columnheader" scope="col">${environmentName(environment)}</th>`)}
        ${others.length > 0 ? html`<th role="columnheader" scope="col" class="others">Others</th>` : nothing}
        ${has('createdAt') ? heading(filters, 'createdAt', 'optional') : nothing}
        ${has('lastSeenAt') ? heading(filters, 'lastSeenAt', 'used') : nothing}
        ${!has('potentiallyStaleAt') ? nothing : isArchive ? html`<th role="columnheader" scope="col">Archived</th>` : heading(filters, 'potentiallyStaleAt')}
        <th role="columnheader" scope="col" class="more"><span class="visually-hidden">Actions</span></th>
      </tr></thead>
      <tbody role="rowgroup">${repeat(features, ({ name }) => name, row)}</tbody>
    </table>
    ${pages(filters, features.length, total)}`;

  function row(toggle) {
    const { name, project, type, description, createdAt, archivedAt } = toggle;
    const { query } = filters;
    return html`<tr role="row">
      ${selection.mayChange() ? html`<td role="cell" class="pick"><input type="checkbox" aria-label="Select ${name}" .checked=${live(state.selected.has(name))}
        @change=${({ target }) => selection.select([toggle], target.checked)}></td>` : nothing}
      <th role="rowheader" scope="row">
        ${isComfortable ? html`
        <div class="named">${star(toggle, togglePath(toggle), context, draw)}<a href=${toggleAddress(toggle)} title=${name}>${marked(name, query)}</a>
          <small class="type"><bdi>${typeName(type)}</bdi></small></div>
        ${description ? html`<small class="line" title=${description}>${marked(description, query)}</small>` : nothing}`
    : html`<div class="named">${star(toggle, togglePath(toggle), context, draw)}<a href=${toggleAddress(toggle)} aria-label=${name} title=${[name, typeName(type), description].filter(Boolean).join('\n')}>${cut(name, query)}</a></div>`}
      </th>
      ${has('project') ? html`<td role="cell" class="project" title=${project}><bdi>${project}</bdi></td>` : nothing}
      ${has('owner') ? html`<td role="cell" class="owner optional" title=${toggle.owner?.name ?? 'The Owners of the project'}>${toggle.owner ? html`<bdi>${toggle.owner.name}</bdi>` : html`<span class="detail">–</span>`}</td>` : nothing}
      ${has('stage') ? html`<td role="cell" class="stage">${stageBadge(toggle)}</td>` : nothing}
      ${columns.map((environment) => html`<td role="cell" class="on">${stateIn(toggle, environment) ? switchOf(toggle, environment) : nothing}</td>`)}
      ${others.length > 0 ? html`<td role="cell" class="on others"><span class="environment-label">Others </span><span class="detail">${otherStates(toggle)}</span></td>` : nothing}
      ${has('createdAt') ? html`<td role="cell" class="optional">${day(createdAt)}</td>` : nothing}
      ${has('lastSeenAt') ? html`<td role="cell" class="used">${state.line(toggle) ?? lastUsed(toggle)}</td>` : nothing}
      ${has('potentiallyStaleAt') ? html`<td role="cell" class="due">${isArchive ? day(archivedAt) : removal(toggle)}${isComfortable ? html` <small class="used-too">Used: ${lastUsed(toggle)}</small>` : nothing}</td>` : nothing}
      <td role="cell" class="more">${menu(`Actions of ${name}`, `menu-${name}`, [
        ...selection.items(toggle),
        ...may('CREATE_FEATURE', project) ? [{ label: 'Clone', action: () => clone(toggle) }]
    : may('CREATE_FEATURE') ? [lockedItem({ permission: 'CREATE_FEATURE', project, to: `clone ${name}` }, context, 'Clone')] : [],
        { label: 'Copy name', action: () => selection.copy([toggle]) },
      ])}</td>
    </tr>`;
  }

  function typeName(type) {
    return state.types.find(({ id }) => id === type)?.name ?? type;
  }

  async function clone(toggle) {
    const { openClone } = await import('./dependency.js'); // the first view does not need it
    openClone(toggle, context);
  }

  function otherStates(toggle) {
    const states = others.map((environment) => stateIn(toggle, environment)).filter(Boolean);
    return `${states.filter(({ enabled }) => enabled).length} of ${states.length} on`;
  }

  function switchOf(toggle, environment) {
    const on = stateIn(toggle, environment).enabled;
    if (toggle.archived) return html`<span class="environment-label">${environmentName(environment)} </span>off`;
    const key = `${toggle.name} ${environment.name}`;
    return html`<span class="environment-label" aria-hidden="true">${environmentName(environment)} </span>${offeredSwitch(toggle, environment, context, {
      on,
      busy: state.switching.has(key),
      async change() {
        const { turn } = await import('./switching.js'); // the first view does not need it
        turn(toggle, environment, !on, context, (busy, now = on) => {
          if (busy) state.switching.add(key);
          else state.switching.delete(key);
          stateIn(toggle, environment).enabled = now;
          draw();
        });
      },
    })}${reach(stateIn(toggle, environment))}`;
  }
}

/** For whom a toggle is on in an environment, if not for everybody. */
function reach({ enabled, reach: { strategies, percentage } }) {
  if (!enabled || percentage === 100) return nothing;
  return html` <small class="reach">${percentage === null ? counted(strategies, 'rule') : `${percentage} %`}</small>`;
}

function heading(filters, by, kind) {
  const { sortBy, sortOrder } = { ...order(filters), ...filters };
  const sorted = sortBy === by && sortOrder;
  const next = sorted === 'asc' ? 'desc' : 'asc';
  return html`<th role="columnheader" scope="col" class=${kind ?? nothing} aria-sort=${sorted ? `${sorted}ending` : nothing}>
    <a class="sort" data-here href=${listAddress({ ...filters, sortBy: by, sortOrder: next, offset: undefined })}>${orders[by]}<span
      class="arrow" aria-hidden="true">${sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : '↕'}</span></a></th>`;
}

/** Links to the pages before and after the one that is shown. */
function pages(filters, shown, total) {
  if (total <= shown) return nothing;
  const start = Number(filters.offset ?? 0);
  const to = (offset, rel, label) => html`<a data-here rel=${rel} href=${listAddress({ ...filters, offset: offset || undefined })}>${label}</a>`;
  return html`<nav class="months" aria-label="Pages of toggles">
    ${start > 0 ? to(Math.max(0, start - pageSize), 'prev', '‹ Previous') : nothing}
    ${start + shown < total ? to(start + pageSize, 'next', 'Next ›') : nothing}
  </nav>`;
}

/** The state of a toggle in an environment, or undefined if its project does not have the environment. */
const stateIn = ({ environments }, { name }) => environments.find((state) => state.name === name);

/** A date in one line, with the exact one in its title. */
const day = (value) => (value ? html`<time datetime=${value} title=${exactTime(value)}>${relativeDays(value)}</time>` : nothing);
