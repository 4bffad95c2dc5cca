// The filters of the list of toggles: their addresses, and the controls.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { counted } from '../dom.js';
import { knownProjects, projectChoices } from '../project.js';
import { element, html, live, nothing } from '../template.js';

const names = ['query', 'stage', 'type', 'project', 'owner', 'contextField', 'segment', 'status', 'sortBy', 'sortOrder', 'offset'];
export const filterNames = ['type', 'project', 'owner', 'contextField', 'segment', 'status'];
export const orders = { name: 'Name', type: 'Type', project: 'Project', createdAt: 'Created', lastSeenAt: 'Last used', potentiallyStaleAt: 'Removal', relevance: 'Relevance' };

/** The filters that have a value, in the order of addresses. */
export const tidy = (filters) => Object.fromEntries(names.map((name) => [name, filters[name]]).filter(([, value]) => value));

/** The filters of an address. */
export const read = (parameters) => tidy(Object.fromEntries(parameters));

/** The stage that a list shows, and its other filters, whatever the order and the page. */
export const conditions = ({ stage: shown = '', sortBy, sortOrder, offset, ...others }) => ({ shown, others });

/** The order of a list whose address has none: the best match of a search first, otherwise the toggle that is due first. */
export const order = ({ query }) => ({ sortBy: query ? 'relevance' : 'potentiallyStaleAt', sortOrder: 'asc' });

/**
 * The controls that filter and sort the list.
 * @param {Object} state that of the list
 * @param {Object} options
 * @param {AbortSignal} options.signal
 * @param {Object|null} options.user
 * @param {Promise<Object[]>} options.types
 * @param {Promise<void>} options.environments the state has them afterwards
 * @param {(changes: Object) => void} options.filter shows other filters
 * @param {() => void} options.draw
 */
export function filterInputs(state, { signal, user, types, environments, filter, draw }) {
  const lists = loadChoices(signal);
  const input = (name, label, placeholder) => element(html`<input name=${name} placeholder=${placeholder} aria-label=${label}>`);
  const typeChoices = async () => (await types).map(({ id, name }) => ({ value: id, label: name }));
  const control = (name, label, placeholder, all, select = matching) => combobox(input(name, label, placeholder), {
    choices: async (text) => select(await all().catch(() => []), text),
    choose: (value) => filter(name === 'uses' ? usesFilter(value) : { [name]: value }),
  });
  const controls = {
    project: control('project', 'Project', 'All projects', knownProjects, projectChoices),
    type: control('type', 'Type', 'All types', typeChoices),
    owner: combobox(input('owner', 'Owner', 'All owners'), {
      choices: async (text) => (await owners()).filterChoices(text, user), choose: (owner) => filter({ owner }),
    }),
    uses: control('uses', 'Uses', 'Uses anything', lists.uses),
  };
  controls.status = control('status', 'Status', 'On or off', async () => (await environments, statusChoices()));
  let timer;
  return { set, template };

  function statusChoices() {
    return state.environments.flatMap(({ name }) => [
      { value: `${name}:enabled`, label: `on in ${name}` }, { value: `${name}:disabled`, label: `off in ${name}` }]);
  }

  /** Shows the filters, or one of them after its choices were loaded. */
  function set(only) {
    const { type = '', project = '', owner = '', contextField, segment, status = '' } = state.filters;
    const values = {
      project: [project],
      type: [type, state.types.find(({ id }) => id === type)?.name ?? type],
      owner: [owner],
      uses: [contextField ?? segment ?? ''],
      status: [status, statusChoices().find(({ value }) => value === status)?.label ?? status],
    };
    for (const name of only ? [only] : Object.keys(controls)) controls[name].set(...values[name]);
    if (owner !== '') nameOwner(owner);
  }

  /** Shows what the owner is called whom the address names. */
  async function nameOwner(owner) {
    const { learnOwners, ownerLabel } = await owners();
    learnOwners(state.page?.features ?? []);
    if (state.filters.owner === owner) controls.owner.set(owner, ownerLabel(owner));
  }

  function template() {
    const used = filterNames.filter((name) => state.filters[name]).length;
    const { sortBy, sortOrder } = { ...order(state.filters), ...state.filters };
    const choices = Object.keys(orders).filter((by) => by !== 'relevance' || state.filters.query).flatMap((by) => [[by, 'asc'], [by, 'desc']]);
    return html`<form class="finder" role="search" aria-label="Filter toggles" @submit=${apply}>
      <input type="search" name="query" aria-label="Search" placeholder="Search names and descriptions" maxlength="1000" autocomplete="off"
        spellcheck="false" dir="auto" .value=${live(state.typed)} @input=${later}>
      <button type="button" class="narrow" aria-expanded=${state.isFilterOpen ? 'true' : 'false'} aria-controls="filters"
        @click=${() => { state.isFilterOpen = !state.isFilterOpen; draw(); }}>Filter${used > 0 ? ` (${used})` : nothing}</button>
      <div id="filters" class=${state.isFilterOpen ? 'open' : nothing}>
        ${Object.values(controls).map((box) => box.element)}
        <label class="narrow">Sort by <select name="sort" @change=${sort}>${choices.map(([by, direction]) => html`
          <option value="${by} ${direction}" .selected=${live(by === sortBy && direction === sortOrder)}>${orders[by]}, ${direction}ending</option>`)}
        </select></label>
      </div>
      <p class="detail count" role="status" tabindex="-1">${shownRange(state)}</p>
    </form>`;
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

/** The first view does not need it. */
const owners = () => import('../owner.js');

/** The part of the list that is shown. */
function shownRange({ page, filters }) {
  if (!page) return nothing;
  const { features, total } = page;
  if (features.length === 0) return total > 0 ? 'No more toggles' : 'No toggles';
  const start = Number(filters.offset ?? 0);
  return `${(start + 1).toLocaleString('en')}–${(start + features.length).toLocaleString('en')} of ${counted(total, 'toggle')}`;
}

/** The filters for a choice of what toggles use. */
function usesFilter(value) {
  const [, name, of] = /^(\w+):(.*)$/s.exec(value) ?? [];
  return { contextField: undefined, segment: undefined, ...name && { [name]: of } };
}

/** Functions that load the choices of filters when they are needed, once. */
function loadChoices(signal) {
  const once = (load) => {
    let loaded;
    return () => (loaded ??= load().catch((error) => {
      loaded = undefined;
      throw error;
    }));
  };
  return {
    uses: once(async () => {
      const { loadSegments } = await import('../segment.js'); // the first view does not need it
      const [fields, segments] = await Promise.all([call('GET', '/api/admin/context', undefined, { signal }), loadSegments(signal)]);
      return [
        ...segments.map(({ name }) => ({ value: `segment:${name}`, label: name, detail: 'segment' })),
        ...fields.map(({ name }) => ({ value: `contextField:${name}`, label: name, detail: 'context field' })),
      ];
    }),
  };
}
