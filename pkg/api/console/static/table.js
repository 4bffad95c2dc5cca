// Dense tables of things that a page has loaded as a whole: the name leads to the thing, and a menu has its actions.

import { menu } from './menu.js';
import { element, html, nothing, repeat } from './template.js';

/**
 * The template of a table.
 * @param {Object} options
 * @param {string} options.caption for screen readers
 * @param {string} [options.kind] a class
 * @param {Array<{name: string, head?: unknown, kind?: string, compare?: boolean|((a: Object, b: Object) => number), cell: (item: Object) => unknown}>} options.columns the
 *   first one is the header of its row. `head` is what its header shows instead of `name`, `kind` is a class, and one with `compare` sorts the table.
 * @param {Object[]} options.items the rows, in their order
 * @param {(item: Object) => unknown} options.key
 * @param {string} [options.order] the name of the column that the rows are sorted by, with a minus sign before it: descending
 * @param {(order: string) => void} [options.sort] called when another order is chosen
 * @param {(item: Object) => {name: string, id?: string, items: Array}} [options.actions] the name of a row, its id if the name is not
 *   unique, and its actions, see `menu`
 */
export function denseTable({ caption, kind = '', columns, items, key, order, sort, actions }) {
  return html`<table role="table" class="dense ${kind}">
    <caption class="visually-hidden">${caption}</caption>
    <thead role="rowgroup"><tr role="row">
      ${columns.map((column) => heading(column, order, sort))}
      ${actions ? html`<th role="columnheader" scope="col" class="more"><span class="visually-hidden">Actions</span></th>` : nothing}
    </tr></thead>
    <tbody role="rowgroup">${repeat(items, key, (item) => html`<tr role="row">
      ${columns.map(({ name, kind: of, cell }, i) => (i === 0 ? html`<th role="rowheader" scope="row">${cell(item)}</th>`
    : html`<td role="cell" class=${of ?? nothing} data-label=${name}>${cell(item)}</td>`))}
      ${actions ? html`<td role="cell" class="more">${rowMenu(actions(item))}</td>` : nothing}</tr>`)}</tbody>
  </table>`;
}

/** @param {{name: string, head?: unknown, kind?: string, compare?: boolean|Function}} column */
function heading({ name, head = name, kind, compare }, order, sort) {
  const isSorted = order === name || order === `-${name}`;
  const isAscending = order === name;
  return html`<th role="columnheader" scope="col" class=${kind ?? nothing} aria-sort=${isSorted ? (isAscending ? 'ascending' : 'descending') : nothing}>${
    compare ? html`<button type="button" class="sort" @click=${() => sort(isAscending ? `-${name}` : name)}>${name}<span class="arrow"
      aria-hidden="true">${isSorted ? (isAscending ? '↑' : '↓') : '↕'}</span></button>` : head}</th>`;
}

const rowMenu = ({ name, id = name, items }) => (items.length === 0 ? nothing : menu(`Actions of ${name}`, `menu-${id}`, items));

/** Returns items in the order of a column of `denseTable`. Those with the same value keep theirs. */
export function sorted(items, columns, order) {
  const column = columns.find(({ name, compare }) => compare && (order === name || order === `-${name}`));
  if (!column) return items;
  return [...items].sort((a, b) => (order === column.name ? 1 : -1) * column.compare(a, b));
}

/**
 * The template of a table of numbers. Its first column is the header of each row.
 * @param {string} caption for screen readers
 * @param {Array<string|{name: string, kind: string}>} columns `kind` is a class
 * @param {unknown[][]} rows their cells
 * @param {string} [kind] a class
 */
export function numberTable(caption, columns, rows, kind = '') {
  const named = columns.map((column) => (typeof column === 'string' ? { name: column, kind: undefined } : column));
  return html`<table role="table" class="numbers ${kind}">
    <caption class="visually-hidden">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${named.map((column) => html`<th role="columnheader" scope="col" class=${column.kind ?? nothing}>${column.name}</th>`)}</tr></thead>
    <tbody role="rowgroup">${rows.map(([head, ...cells]) => html`<tr role="row"><th role="rowheader" scope="row">${head}</th>${cells.map((cell, i) => html`
      <td role="cell" class=${named[i + 1].kind ?? nothing} data-label=${named[i + 1].name}>${cell}</td>`)}</tr>`)}</tbody>
  </table>`;
}

/** A number with a bar, which is only decoration. `part` is its length, from 0 to 1. */
export function withBar(number, part) {
  const bar = element(html`<span class="bar" aria-hidden="true"></span>`);
  bar.style.setProperty('--part', part);
  return html`<span class="usage"><span>${number}</span>${bar}</span>`;
}
