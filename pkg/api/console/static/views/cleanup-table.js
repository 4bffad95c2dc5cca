// The table of Clean-up, its groups, and its file.

import { codeWords } from '../code-reference.js';
import { csv } from '../csv.js';
import { counted, text } from '../dom.js';
import { downloadFile } from '../download.js';
import { isProduction } from '../environment.js';
import { html, live, nothing, repeat } from '../template.js';
import { age, isoDay } from '../time.js';
import { isKept, lastUsed, stageNames, toggleAddress } from '../toggle.js';
import { keptWords } from './toggle-care.js';

const kinds = { complete: 'good', 'to-remove': 'bad', overdue: 'warn', never: 'quiet', unused: 'quiet' };

/** The toggles that have a reason, and are kept. */
export const keptReason = 'kept';

/** What the reasons are called. */
export const reasonNames = (days) => ({
  complete: stageNames.complete, overdue: stageNames.overdue, 'to-remove': stageNames['to-remove'], never: 'Never used', unused: `Not used for ${counted(days, 'day')}`,
  [keptReason]: 'Kept',
});

/** What the list can be grouped by, and the groups of a toggle. */
export const groupings = {
  '': { label: 'Not grouped' },
  owner: { label: 'Group by owner', of: ({ owner }) => owner?.name ?? 'No owner' },
  person: { label: 'Group by person', of: ({ createdBy }) => createdBy?.name ?? 'Unknown' },
  project: { label: 'Group by project', of: ({ project }) => project },
};

/** The items group by group, the largest group first, each with `group` and the number of its items. */
export function grouped(items, by) {
  const of = groupings[by]?.of;
  if (!of) return items;
  const groups = Map.groupBy(items, ({ toggle }) => of(toggle));
  return [...groups].sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
    .flatMap(([group, all]) => all.map((item) => ({ ...item, group, size: all.length })));
}

/** Where a toggle is on in production: "on", "off", or "on in 1 of 2". */
export function inProduction({ environments }) {
  const all = environments.filter(isProduction);
  const on = all.filter(({ enabled }) => enabled).length;
  return all.length === 0 ? '–' : on === 0 ? 'off' : on === all.length ? 'on' : `on in ${on} of ${all.length}`;
}

/**
 * The template of the table.
 * @param {Array<{toggle: Object, reasons: string[], group?: string, size?: number}>} shown
 * @param {{days: number, selected: Map<string, Object>, code: (toggle: Object) => Object|undefined, mayArchive: (toggle: Object) => boolean, select: (toggles: Object[], isSelected: boolean) => void}} options
 */
export function cleanupTable(shown, { days, selected, code, mayArchive, select }) {
  const columns = ['Toggle', 'Why', 'Production', 'Last used', 'Owner', 'Age'];
  const names = reasonNames(days);
  return html`<table role="table" class="dense cleanup">
    <caption class="visually-hidden">Toggles that may be removed</caption>
    <thead role="rowgroup"><tr role="row">${columns.map((name) => html`<th role="columnheader" scope="col" class=${name === 'Age' ? 'age' : nothing}>${name}</th>`)}</tr></thead>
    <tbody role="rowgroup">${repeat(shown, ({ toggle }) => toggle.name, (item, i) => html`
      ${item.group !== undefined && item.group !== shown[i - 1]?.group ? html`<tr role="row" class="group"><th role="rowheader" scope="rowgroup" colspan=${columns.length}>
        <bdi>${item.group}</bdi> <span class="number">${item.size.toLocaleString('en')}</span></th></tr>` : nothing}${row(item)}`)}</tbody>
  </table>`;

  function row({ toggle, reasons }) {
    const { name, project, owner, createdBy, createdAt } = toggle;
    return html`<tr role="row">
      <th role="rowheader" scope="row"><div class="check">
        ${mayArchive(toggle) ? html`<input type="checkbox" aria-label="Select ${name}" .checked=${live(selected.has(name))}
          @change=${({ target }) => select([toggle], target.checked)}>` : nothing}
        <div class="named"><a href=${toggleAddress(toggle)}>${text(name)}</a> <small class="detail"><bdi>${project}</bdi></small></div></div></th>
      <td role="cell" class="why" data-label="Why"><div class="why-removed">${reasons.map((reason) => html`
        <span class="badge ${kinds[reason]}">${names[reason]}</span>`)}${isKept(toggle) ? html`<small>${keptWords(toggle)}</small>` : nothing}</div>${inCode(toggle)}</td>
      <td role="cell" data-label="Production">${inProduction(toggle)}</td>
      <td role="cell" data-label="Last used"><div><a href="${toggleAddress(toggle)}?tab=usage">${lastUsed(toggle)}<span
        class="visually-hidden">, usage of ${name}</span></a></div></td>
      <td role="cell" class="owner" data-label="Owner">${owner ? html`<bdi>${owner.name}</bdi>` : html`<span class="detail">${createdBy ? html`created by <bdi>${createdBy.name}</bdi>` : 'Nobody'}</span>`}</td>
      <td role="cell" class="age" data-label="Age">${age(createdAt)}</td>
    </tr>`;
  }

  /** How often code has its name. */
  function inCode(toggle) {
    const found = code(toggle);
    return found ? html`<a class="detail in-code" href="${toggleAddress(toggle)}?tab=details">${codeWords(found, toggle)}<span class="visually-hidden">, code of ${toggle.name}</span></a>` : nothing;
  }
}

/** Downloads the list. `code` says how often code has the name of a toggle. */
export function saveCleanup(items, days, code) {
  const names = reasonNames(days);
  downloadFile('clean-up.csv', csv([['name', 'project', 'reasons', 'production', 'lastSeenAt', 'code', 'owner', 'createdBy', 'createdAt', 'keepUntil', 'keepReason'],
    ...items.map(({ toggle, reasons }) => [toggle.name, toggle.project, reasons.map((reason) => names[reason]).join(', '), inProduction(toggle),
      toggle.lastSeenAt, code(toggle) && codeWords(code(toggle), toggle, isoDay), toggle.owner?.name, toggle.createdBy?.name, toggle.createdAt,
      toggle.keepUntil, toggle.keepReason])]));
}
