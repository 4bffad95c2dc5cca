// The filters of the list of toggles: their addresses, the search, and the order. The first view needs them. `toggles-chips.js` has the controls
// of the other filters.

import { counted } from '../dom.js';
import { html, live, nothing } from '../template.js';
import { plain } from '../toggle.js';

export const filterNames = ['type', 'project', 'owner', 'tag', 'status', 'contextField', 'segment', 'application', 'createdBy', 'createdAt', 'lastSeenAt', 'favorite'];
const names = ['query', 'stage', ...filterNames, 'sortBy', 'sortOrder', 'offset'];
export const orders = { name: 'Name', type: 'Type', project: 'Project', createdAt: 'Created', lastSeenAt: 'Last used', potentiallyStaleAt: 'Removal', relevance: 'Relevance' };

/** The filters that have a value, in the order of addresses. */
export const tidy = (filters) => Object.fromEntries(names.map((name) => [name, filters[name]]).filter(([, value]) => value));

/** The filters of an address, which can also have the form of the API. */
export const read = (parameters) => tidy(Object.fromEntries([...parameters].map(([name, value]) => [name, name === 'query' ? value : plain(value)])));

/** The stage that a list shows, and its other filters, whatever the order and the page. */
export const conditions = ({ stage: shown = '', sortBy, sortOrder, offset, ...others }) => ({ shown, others });

/** The order of a list whose address has none: the best match of a search first, otherwise the toggle that is due first. */
export const order = ({ query }) => ({ sortBy: query ? 'relevance' : 'potentiallyStaleAt', sortOrder: 'asc' });

/**
 * The controls that filter and sort the list.
 * @param {Object} state that of the list
 * @param {Object} options
 * @param {Object} options.context of the page
 * @param {(changes: Object) => void} options.filter shows other filters
 * @param {() => void} options.draw
 */
export function filterInputs(state, { context, filter, draw }) {
  let timer;
  let chips = null;
  return { set, template };

  /** Shows the filters, after they were changed by an address. */
  function set() {
    chips?.close();
    if (Object.keys(state.filters).some((name) => filterNames.includes(name)) || state.filters.stage) load().catch(() => {}); // without a connection, the list says so
  }

  async function load() {
    if (chips) return chips;
    const { filterChips } = await import('./toggles-chips.js'); // the first view does not need it
    if (chips === null && !context.signal.aborted) {
      chips = filterChips(state, { context, filter, draw, names: filterNames });
      draw();
    }
    return chips;
  }

  function template() {
    const { sortBy, sortOrder } = { ...order(state.filters), ...state.filters };
    const choices = Object.keys(orders).filter((by) => by !== 'relevance' || state.filters.query).flatMap((by) => [[by, 'asc'], [by, 'desc']]);
    return html`<form class="finder" role="search" aria-label="Filter toggles" @submit=${apply}>
      <input type="search" name="query" aria-label="Search" placeholder="Search names and descriptions" maxlength="1000" autocomplete="off"
        spellcheck="false" dir="auto" .value=${live(state.typed)} @input=${later}>
      <button type="button" class="add-filter" aria-expanded=${state.isFilterOpen ? 'true' : 'false'} @click=${async () => (await load())?.toggle()}>Filter</button>
      <select name="sort" class="narrow" aria-label="Sort by" @change=${sort}>${choices.map(([by, direction]) => html`
        <option value="${by} ${direction}" .selected=${live(by === sortBy && direction === sortOrder)}>${orders[by]} ${direction === 'asc' ? '↑' : '↓'}</option>`)}
      </select>
      <p class="detail count" role="status" tabindex="-1">${shownRange(state)}</p>
    </form>${chips?.template() ?? nothing}`;
  }

  function later({ target: { value } }) {
    state.typed = value;
    clearTimeout(timer);
    timer = setTimeout(apply, 150);
  }

  function apply(event) {
    event?.preventDefault();
    clearTimeout(timer);
    filter({ query: state.typed.trim() });
  }

  function sort({ target: { value } }) {
    const [sortBy, sortOrder] = value.split(' ');
    filter({ sortBy, sortOrder });
  }
}

/** The part of the list that is shown. */
function shownRange({ page, filters }) {
  if (!page) return nothing;
  const { features, total } = page;
  if (features.length === 0) return total > 0 ? 'No more toggles' : 'No toggles';
  const start = Number(filters.offset ?? 0);
  return `${(start + 1).toLocaleString('en')}–${(start + features.length).toLocaleString('en')} of ${counted(total, 'toggle')}`;
}
