// Lists that a page has loaded as a whole. The address has the search, the filters, the order and the part that is shown, so a view can be
// shared, and what the page shows is a part of all items.

import { focusOn, range } from './dom.js';
import { matcher } from './search.js';
import { isPlainClick, tabs as linkedTabs } from './tabs.js';
import { html, live, nothing } from './template.js';

const pageSize = 50;

/**
 * @param {Object} options
 * @param {HTMLElement} options.content the element of the page, whose links within the list do not load the page again
 * @param {URLSearchParams} options.search of the address
 * @param {string} options.address without its search
 * @param {() => Object<string, string>} [options.kept] parameters of the address that the page has besides those of the list
 * @param {string} options.item the name of one item in words, such as "token"
 * @param {string} [options.items] that of several, unless it ends with an s
 * @param {string} options.placeholder of the search
 * @param {(item) => string[]} options.texts what the search looks at
 * @param {{name: string, label: string, choices: () => Choice[]}} [options.tabs] the choice of one of several lists, with the parameter `name`
 * @param {Object<string, {label: string, choices: () => Choice[]}>} [options.filters] selects, by the names of their parameters. The first
 *   choice of each, and of the tabs, has an empty value. A choice without `test` selects all.
 * @param {Object<string, {label: string, compare: (a, b) => number}>} options.orders by the values of `sortBy`. Equal items are in the first one.
 * @param {{sortBy: string, sortOrder: string}} options.order without one in the address
 * @param {(values: Object<string, string>) => string} [options.none] says that no item has what the address says, without a point
 * @param {Object<string, string>} [options.all] parameters with which the list has all items
 * @param {() => void} options.draw renders the page again
 * @typedef {{value: string, label: string, test?: (item) => boolean}} Choice
 * @returns {{template: (items: Object[], table: (shown: Object[], sorting: {order: string, sort: (order: string) => void, query: string}) => Object, empty: Object)
 *   => Object, keepAddress: () => void}} the template of the tabs, the filters and the items. `sorting` has the options of `denseTable`, whose columns have the labels
 *   of the orders. `keepAddress` shows the list again after `kept` has changed.
 */
export function listView({ content, search, address, kept = () => ({}), item, items: many = `${item}s`, placeholder, texts, tabs, filters = {}, orders, order, none = () => `No ${item} matches the filters`, all = {}, draw }) {
  const choosing = { ...tabs && { [tabs.name]: tabs }, ...filters };
  const names = ['query', ...Object.keys(choosing), 'sortBy', 'sortOrder', 'offset'];
  const read = (parameters) => Object.fromEntries(names.map((name) => [name, parameters.get(name)]).filter(([, value]) => value));
  const state = { values: read(search), isFilterOpen: false };
  content.addEventListener('click', stay);
  return { template, keepAddress: () => filter({}) };

  function addressOf(changes) {
    const values = { ...state.values, offset: undefined, ...changes };
    const parameters = new URLSearchParams([...Object.entries(kept()), ...names.map((name) => [name, values[name]]).filter(([, value]) => value)]);
    return `${address}${parameters.size > 0 ? '?' : ''}${parameters}`;
  }

  /** Shows other filters in the same entry of the history. */
  function filter(changes) {
    const shown = addressOf(changes);
    state.values = read(new URLSearchParams(shown.split('?')[1]));
    window.history.replaceState(window.history.state, '', shown);
    draw();
  }

  /** Follows links to other views of the list without a new page. */
  function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    const { offset } = state.values;
    state.values = read(new URLSearchParams(link.hash.split('?')[1]));
    window.history.pushState(null, '', link.hash);
    draw();
    if (state.values.offset !== offset) window.scrollTo(0, 0);
    if (document.activeElement === document.body) focusOn('.count', content, { preventScroll: true });
  }

  function sorting() {
    const { sortBy, sortOrder } = { ...order, ...state.values };
    return Object.hasOwn(orders, sortBy) ? { sortBy, sortOrder } : order;
  }

  /** The items that match, without the filter of a name. */
  function select(items, without) {
    const matches = matcher(state.values.query ?? '');
    const tests = Object.entries(choosing).filter(([name]) => name !== without).map(([name, { choices }]) => {
      const chosen = choices().find(({ value }) => value === (state.values[name] ?? ''));
      return chosen ? chosen.test ?? (() => true) : () => false;
    });
    return items.filter((one) => matches(...texts(one)) && tests.every((test) => test(one)));
  }

  function template(items, table, empty) {
    const { sortBy, sortOrder } = sorting();
    const direction = sortOrder === 'desc' ? -1 : 1;
    const [{ compare: first }] = Object.values(orders);
    const found = select(items).sort((a, b) => direction * orders[sortBy].compare(a, b) || first(a, b));
    const start = Number(state.values.offset ?? 0) < found.length ? Number(state.values.offset ?? 0) : 0;
    return html`
      ${tabs ? tabLinks(items) : nothing}
      ${items.length > 0 ? finder(found.length, start) : nothing}
      <section class="results" aria-label="Found">${items.length === 0 ? empty
    : found.length === 0 ? html`<p class="empty">${none(state.values)}. <a data-here href=${addressOf({ ...Object.fromEntries(names.map((name) => [name])), ...all })}>Show all</a>.</p>`
      : table(found.slice(start, start + pageSize), { order: `${direction < 0 ? '-' : ''}${orders[sortBy].label}`, sort: sortByColumn, query: state.values.query })}
      ${found.length > pageSize ? html`<nav class="months" aria-label="Pages of ${many}">
        ${start > 0 ? to(Math.max(0, start - pageSize), '‹ Previous') : nothing}
        ${start + pageSize < found.length ? to(start + pageSize, 'Next ›') : nothing}</nav>` : nothing}</section>`;
  }

  function sortByColumn(column) {
    const [, minus, label] = /^(-?)(.*)$/.exec(column);
    filter({ sortBy: Object.keys(orders).find((by) => orders[by].label === label), sortOrder: minus ? 'desc' : 'asc' });
  }

  function to(offset, label) {
    return html`<a data-here href=${addressOf({ offset: offset || undefined })}>${label}</a>`;
  }

  function tabLinks(items) {
    const { name, label, choices } = tabs;
    const others = select(items, name);
    return linkedTabs(label, choices().map(({ value, label: text, test = () => true }) => (
      { label: text, count: others.filter(test).length, isCurrent: value === (state.values[name] ?? ''), href: addressOf({ [name]: value }) })));
  }

  function finder(total, start) {
    const { sortBy, sortOrder } = sorting();
    const used = Object.keys(filters).filter((name) => state.values[name]).length;
    return html`<form class="finder" role="search" aria-label="Filter" @submit=${(event) => event.preventDefault()}>
      <input type="search" name="query" aria-label="Search" placeholder=${placeholder} maxlength="1000" autocomplete="off" spellcheck="false" dir="auto"
        .value=${live(state.values.query ?? '')} @input=${({ target }) => filter({ query: target.value })}>
      <button type="button" class="narrow" aria-expanded=${state.isFilterOpen ? 'true' : 'false'} aria-controls="filters"
        @click=${() => { state.isFilterOpen = !state.isFilterOpen; draw(); }}>Filter${used > 0 ? ` (${used})` : nothing}</button>
      <div id="filters" class=${state.isFilterOpen ? 'open' : nothing}>
        ${Object.entries(filters).map(([name, { label, choices }]) => html`<select name=${name} aria-label=${label}
          @change=${({ target }) => filter({ [name]: target.value })}>${choices().map(({ value, label: text }) => html`
          <option value=${value} .selected=${live(value === (state.values[name] ?? ''))}>${text}</option>`)}</select>`)}
        <label class="narrow">Sort by <select name="sort" @change=${sort}>${Object.entries(orders).flatMap(([by, { label }]) => ['asc', 'desc'].map((direction) => html`
          <option value="${by} ${direction}" .selected=${live(by === sortBy && direction === sortOrder)}>${label}, ${direction}ending</option>`))}</select></label>
      </div>
      <p class="detail count" role="status" tabindex="-1">${total === 0 ? `No ${many}` : range(total, start, pageSize, item, many)}</p>
    </form>`;
  }

  function sort({ target: { value } }) {
    const [sortBy, sortOrder] = value.split(' ');
    filter({ sortBy, sortOrder });
  }
}
