// Toggles: the list. The address has the filters, so a view can be shared, and the entry of the history has the selection and the position.

import { call } from '../api.js';
import { copyText } from '../clipboard.js';
import { divide } from '../columns.js';
import { combobox, matching } from '../combobox.js';
import { counted, failure, focusOn, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { environmentName, loadEnvironments, toggleSwitch } from '../environment.js';
import { menu } from '../menu.js';
import { marked } from '../search.js';
import { loadSegments } from '../segment.js';
import { isPlainClick, tabs } from '../tabs.js';
import { element, html, live, nothing, render as show, repeat } from '../template.js';
import { exactTime, relativeDays } from '../time.js';
import {
  counts, countToggles, lastUsed, latestList, listAddress, noToggles, pageSize, removal, searchToggles, stateNames, toggleAddress, toggleChanges,
} from '../toggle.js';
import { openClone } from './dependency.js';
import { actions, openAction, switchAction } from './toggle-actions.js';
import { openToggleEditor } from './toggle-editor.js';

const names = ['query', 'state', 'type', 'project', 'contextField', 'segment', 'status', 'sortBy', 'sortOrder', 'offset'];
const filterNames = ['type', 'project', 'contextField', 'segment', 'status'];
const orders = { name: 'Name', type: 'Type', project: 'Project', createdAt: 'Created', lastSeenAt: 'Last used', potentiallyStaleAt: 'Removal', relevance: 'Relevance' };
const properties = ['name', 'project', 'type', 'description', 'createdAt', 'createdBy', 'stale', 'potentiallyStale', 'archived', 'lastSeenAt']; // of a file
const most = 100; // toggles in one page of a search
const atOnce = 4; // searches

export async function render(content, context) {
  if (context.detail) {
    const { renderToggle } = await import('./toggle.js');
    return renderToggle(content, context);
  }
  const { may, search, signal, announce, setActions } = context;
  const state = {
    filters: read(search),
    typed: search.get('query') ?? '', // in the search
    page: null, // {features, total}
    error: null,
    busy: true,
    counts: {}, // numbers by state
    types: [],
    environments: [],
    switching: new Set(), // switches that wait for the API, as `NAME ENVIRONMENT`
    selected: new Map(), // toggles by their name, including those of other pages
    selecting: null, // {done, total, stop}, while all toggles that match are being selected
    isFilterOpen: false, // on narrow screens
  };
  let newest = new AbortController(); // of the newest search
  const kept = window.history.state ?? {}; // what this entry of the history showed
  for (const toggle of kept.selected ?? []) state.selected.set(toggle.name, toggle);

  const inputs = filterInputs();
  const loadedTypes = call('GET', '/api/admin/feature-types', undefined, { signal }).then(({ types }) => {
    state.types = types;
    inputs.set('type');
    draw();
    return types;
  });
  const loadedEnvironments = loadEnvironments(signal).then((environments) => {
    state.environments = environments;
    inputs.set('status');
    draw();
  });
  const create = async () => openToggleEditor(null, await loadedTypes, context, state.filters.project);
  setActions(html`<button type="button" class="optional" @click=${saveFile}>Download CSV</button>`, may('CREATE_FEATURE') && html`<button type="button" class="primary" @click=${create}>Create toggle</button>`);
  toggleChanges.addEventListener('change', load, { signal });
  window.addEventListener('scrollend', keep, { signal });
  content.addEventListener('click', stay);
  inputs.set();
  draw();
  await Promise.all([loadedTypes, loadedEnvironments, load()]);
  window.scrollTo(0, kept.scroll ?? 0);
  if (may('CREATE_FEATURE') && draftFor('create-toggle') !== undefined) create();

  /** Loads what the filters select. */
  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    latestList.address = listAddress(state.filters);
    state.busy = true;
    draw();
    try {
      state.page = await searchToggles({ ...order(state.filters), ...state.filters }, current);
      latestList.toggles = state.page.features.map(({ project, name }) => ({ project, name }));
      state.error = null;
      state.busy = false;
      draw();
      countStates(current); // later: it takes longer
    } catch (error) {
      if (current.aborted) return;
      Object.assign(state, { error, page: null, busy: false, counts: {} });
      draw();
    }
  }

  function draw() {
    show(view(), content);
  }

  function view() {
    const { page, error } = state;
    return html`
      ${stateTabs()}
      ${inputs.template()}
      <section class="results" aria-label="Toggles that match" aria-busy=${state.busy ? 'true' : nothing}>
        ${error ? failure(error, load) : !page ? loading('the toggles') : page.features.length === 0 ? empty(page.total) : list(page)}
      </section>
      ${bulk()}`;
  }

  function stateTabs() {
    const current = state.filters.state ?? '';
    return tabs('States', Object.entries(stateNames).map(([name, label]) => (
      { label, count: state.counts[name], isCurrent: name === current, href: listAddress({ ...state.filters, state: name, offset: undefined }) })));
  }

  function list({ features, total }) {
    const start = Number(state.filters.offset ?? 0);
    const to = (offset, label) => html`<a data-here href=${listAddress({ ...state.filters, offset: offset || undefined })}>${label}</a>`;
    const isArchive = state.filters.state === 'archived';
    return html`
      <table role="table" class="dense toggles">
        <caption class="visually-hidden">Toggles</caption>
        <thead role="rowgroup"><tr role="row">
          ${mayChange() ? html`<th role="columnheader" scope="col" class="pick">${selectPage(features)}</th>` : nothing}
          ${heading('name')}${heading('project')}
          ${columns().map((environment) => html`<th role="columnheader" scope="col">${environmentName(environment)}</th>`)}
          ${otherEnvironments().length > 0 ? html`<th role="columnheader" scope="col">Others</th>` : nothing}
          ${heading('createdAt', 'optional')}
          ${heading('lastSeenAt', 'used')}
          ${isArchive ? html`<th role="columnheader" scope="col">Archived</th>` : heading('potentiallyStaleAt')}
          <th role="columnheader" scope="col" class="more"><span class="visually-hidden">Actions</span></th>
        </tr></thead>
        <tbody role="rowgroup">${repeat(features, ({ name }) => name, (toggle) => row(toggle, isArchive))}</tbody>
      </table>
      ${total > features.length ? html`<nav class="months" aria-label="Pages of toggles">
        ${start > 0 ? to(Math.max(0, start - pageSize), '‹ Previous') : nothing}
        ${start + features.length < total ? to(start + pageSize, 'Next ›') : nothing}
      </nav>` : nothing}`;
  }

  function heading(by, kind) {
    const { sortBy, sortOrder } = { ...order(state.filters), ...state.filters };
    const sorted = sortBy === by && sortOrder;
    const next = sorted === 'asc' ? 'desc' : 'asc';
    return html`<th role="columnheader" scope="col" class=${kind ?? nothing} aria-sort=${sorted ? `${sorted}ending` : nothing}>
      <a class="sort" data-here href=${listAddress({ ...state.filters, sortBy: by, sortOrder: next, offset: undefined })}>${orders[by]}<span
        class="arrow" aria-hidden="true">${sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : '↕'}</span></a></th>`;
  }

  function row(toggle, isArchive) {
    const { name, project, type, description, createdAt, archivedAt } = toggle;
    const { query } = state.filters;
    return html`<tr role="row">
      ${mayChange() ? html`<td role="cell" class="pick"><input type="checkbox" aria-label="Select ${name}" .checked=${live(state.selected.has(name))}
        @change=${({ target }) => select([toggle], target.checked)}></td>` : nothing}
      <th role="rowheader" scope="row">
        <div class="named"><a href=${toggleAddress(toggle)} title=${name}>${marked(name, query)}</a>
          <small class="type"><bdi>${state.types.find(({ id }) => id === type)?.name ?? type}</bdi></small></div>
        ${description ? html`<small class="line" title=${description}>${marked(description, query)}</small>` : nothing}
      </th>
      <td role="cell" class="project" title=${project}><bdi>${project}</bdi></td>
      ${columns().map((environment) => html`<td role="cell" class="on">${switchOf(toggle, environment)}</td>`)}
      ${otherEnvironments().length > 0 ? html`<td role="cell" class="on"><span class="environment-label">Others </span><span class="detail">${otherEnvironments().filter((environment) => isOn(toggle, environment)).length} of ${
    otherEnvironments().length} on</span></td>` : nothing}
      <td role="cell" class="optional">${day(createdAt)}</td>
      <td role="cell" class="used">${lastUsed(toggle)}</td>
      <td role="cell" class="due">${isArchive ? day(archivedAt) : removal(toggle)} <small class="used-too">Used: ${lastUsed(toggle)}</small></td>
      <td role="cell" class="more">${menu(`Actions of ${name}`, `menu-${name}`, [
        ...possible([toggle]).map((action) => ({ label: action.label, danger: action.danger, action: () => act(action, [toggle]) })),
        ...may('CREATE_FEATURE') ? [{ label: 'Clone', action: () => openClone(toggle, context) }] : [],
        { label: 'Copy name', action: () => copy([toggle]) },
      ])}</td>
    </tr>`;
  }

  /** The environments that have a column. */
  function columns() {
    return divide(state.environments).columns;
  }

  /** The environments that share a column. */
  function otherEnvironments() {
    return divide(state.environments).others;
  }

  function switchOf(toggle, environment) {
    const on = isOn(toggle, environment);
    if (toggle.archived || !may('UPDATE_FEATURE_ENVIRONMENT')) return html`<span class="environment-label">${environmentName(environment)} </span>${on ? 'on' : 'off'}`;
    const key = `${toggle.name} ${environment.name}`;
    return html`<span class="environment-label" aria-hidden="true">${environmentName(environment)} </span>${toggleSwitch({
      label: `${toggle.name} in ${environment.name}`,
      on,
      busy: state.switching.has(key),
      async change() {
        const { turn } = await import('./switching.js'); // the first view does not need it
        turn(toggle, environment, !on, context, (busy, now = on) => {
          if (busy) state.switching.add(key);
          else state.switching.delete(key);
          for (const item of toggle.environments) if (item.name === environment.name) item.enabled = now;
          draw();
        });
      },
    })}`;
  }

  function mayChange() {
    return ['UPDATE_FEATURE', 'DELETE_FEATURE', 'UPDATE_FEATURE_ENVIRONMENT'].some(may);
  }

  /** The actions that the user may perform on at least one of some toggles. */
  function possible(toggles) {
    return Object.values(actions).filter((action) => may(action.permission) && toggles.some(action.applies));
  }

  function act(action, toggles) {
    if (!toggles.some(action.applies)) {
      announce(`All selected toggles are ${action.past} already.`);
      return;
    }
    openAction(action, toggles.filter(action.applies), announce, (failed) => {
      state.selected = new Map(failed.map((toggle) => [toggle.name, toggle]));
      keep();
    });
  }

  function copy(toggles) {
    copyText(toggles.map(({ name }) => name).join('\n'), toggles.length === 1 ? 'Name copied.' : `${counted(toggles.length, 'name')} copied.`, announce);
  }

  function selectPage(features) {
    const on = features.filter(({ name }) => state.selected.has(name)).length;
    return html`<label><input type="checkbox" .checked=${live(on === features.length)} .indeterminate=${on > 0 && on < features.length}
      @change=${({ target }) => select(features, target.checked)}><span>Select all on this page</span></label>`;
  }

  function select(toggles, isSelected) {
    for (const toggle of toggles) {
      if (isSelected) state.selected.set(toggle.name, toggle);
      else state.selected.delete(toggle.name);
    }
    keep();
    draw();
  }

  /** What can be done with the selected toggles. */
  function bulk() {
    const toggles = [...state.selected.values()];
    if (!mayChange() || toggles.length === 0) return nothing;
    const button = (label, action, kind) => html`<button type="button" class=${kind ?? nothing} @click=${action}>${label}</button>`;
    const total = state.page?.total ?? 0;
    return html`<div class="bulk" role="group" aria-label="Selected toggles">
      <strong role="status">${toggles.length.toLocaleString('en')} selected</strong>
      ${state.selecting ? html`
        <span class="detail">Selecting ${state.selecting.done.toLocaleString('en')} of ${state.selecting.total.toLocaleString('en')}…</span>
        ${button('Stop', () => state.selecting.stop())}`
    : toggles.length < total ? button(`Select all ${total.toLocaleString('en')}`, selectAll) : nothing}
      ${may('UPDATE_FEATURE_ENVIRONMENT') && state.filters.state !== 'archived' ? menu('', 'menu-switch', state.environments.flatMap((environment) =>
    [true, false].map((on) => switchAction(environment, on))).map((action) => ({
    label: action.label, action: () => act(action, toggles),
  })), 'Turn on or off') : nothing}
      ${possible(toggles).map((action) => button(action.label, () => act(action, toggles), action.danger ? 'danger quiet' : undefined))}
      ${button('Copy names', () => copy(toggles))}
      ${button('Clear selection', clear)}
    </div>`;
  }

  function clear() {
    state.selected.clear();
    keep();
    draw();
    content.querySelector('.pick input')?.focus();
  }

  /** Loads all toggles that match the filters, a few pages at a time, and calls `add` with the toggles of each. */
  async function loadAll(current, add) {
    const { filters, page: { total } } = state;
    const offsets = Array.from({ length: Math.ceil(total / most) }, (_, i) => i * most);
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (offsets.length > 0 && !current.aborted) {
        const { features } = await searchToggles({ ...filters, sortBy: 'name', offset: offsets.shift(), limit: most }, current);
        add(features);
      }
    }));
  }

  /** Downloads all toggles that match the filters. */
  async function saveFile() {
    if (!state.page) return;
    const toggles = [];
    announce('Loading the toggles…');
    try {
      await loadAll(signal, (features) => toggles.push(...features));
    } catch (error) {
      if (!signal.aborted) announce(`The toggles cannot be downloaded. ${error.message}`);
      return;
    }
    toggles.sort((a, b) => (a.name < b.name ? -1 : 1));
    const [{ csv }, { downloadFile }] = await Promise.all([import('../csv.js'), import('../download.js')]); // the first view does not need them
    const environments = state.environments.map(({ name }) => name);
    downloadFile('toggles.csv', csv([[...properties, ...environments], ...toggles.map((toggle) => [
      ...properties.map((name) => (name === 'createdBy' ? toggle.createdBy?.name : toggle[name])),
      ...environments.map((name) => (toggle.environments.find((one) => one.name === name)?.enabled ? 'on' : 'off'))])]));
    announce(`toggles.csv was downloaded: ${counted(toggles.length, 'toggle')}.`);
  }

  /** Selects all toggles that match the filters. */
  async function selectAll() {
    const controller = new AbortController();
    const current = AbortSignal.any([signal, controller.signal]);
    state.selecting = { done: 0, total: state.page.total, stop: () => controller.abort() };
    draw();
    try {
      await loadAll(current, (features) => {
        for (const toggle of features) state.selected.set(toggle.name, toggle);
        state.selecting.done += features.length;
        draw();
      });
    } catch (error) {
      controller.abort();
      if (error.name !== 'AbortError') announce(`Not all toggles were selected. ${error.message}`);
    }
    if (signal.aborted) return;
    state.selecting = null;
    keep();
    draw();
  }

  /** Keeps the selection and the position for the way back to this entry of the history. */
  function keep() {
    if (signal.aborted) return;
    const selected = [...state.selected.values()].map(({ name, project, stale, archived, lastSeenAt, environments }) => ({
      name, project, stale, archived, lastSeenAt, environments: environments.map(({ name: environment, type, enabled, hasEnabledStrategies }) => ({ name: environment, type, enabled, hasEnabledStrategies })),
    }));
    window.history.replaceState({ selected, scroll: window.scrollY }, '');
  }

  /** Counts the toggles of each state. */
  async function countStates(current) {
    const { shown, others } = conditions(state.filters);
    const key = JSON.stringify(others);
    if (counts.key !== key) {
      state.counts = { [shown]: state.page.total };
      draw();
      try {
        counts.of = Object.keys(others).every((name) => ['project', 'type'].includes(name))
          ? await typeCounts(others.project, others.type, current) : await searchStates(shown, others, state.page.total, current);
        counts.key = key;
      } catch {
        return; // the list is there
      }
    }
    if (current.aborted) return;
    state.counts = counts.of;
    draw();
  }

  async function typeCounts(project, type, current) {
    const { total, types } = await countToggles(project, current);
    return type ? types.get(type) ?? noToggles : total;
  }

  /** Counts the toggles of each state by searches. `total` is the number of those in the state that is shown. */
  async function searchStates(shown, others, total, current) {
    // Toggles in use are all but the others, unless the list has counted them.
    const states = ['potentially-stale', 'stale', 'archived', shown === 'active' ? 'active' : ''];
    const totals = await Promise.all(states.map((name) => (
      name === shown ? { total } : searchToggles({ ...others, state: name, limit: 1 }, current))));
    const of = Object.fromEntries(states.map((name, i) => [name, totals[i].total]));
    const old = of['potentially-stale'] + of.stale;
    return { ...of, '': of[''] ?? of.active + old, active: of.active ?? of[''] - old };
  }

  /** Follows links to other views of this list without a new page. */
  async function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    const { offset } = state.filters;
    state.filters = read(new URLSearchParams(link.hash.split('?')[1] ?? ''));
    window.history.pushState(null, '', listAddress(state.filters));
    keep();
    state.typed = state.filters.query ?? '';
    inputs.set();
    await load();
    if (state.filters.offset !== offset) window.scrollTo(0, 0);
    if (document.activeElement === document.body) focusOn('.count', content, { preventScroll: true });
  }

  /** Shows other filters in the same entry of the history. */
  function filter(changes) {
    const next = tidy({ ...state.filters, ...changes, offset: undefined });
    if (!next.query && next.sortBy === 'relevance') {
      delete next.sortBy;
      delete next.sortOrder;
    }
    if (signal.aborted || listAddress(next) === listAddress({ ...state.filters, offset: undefined })) return;
    state.filters = next;
    window.history.replaceState(window.history.state, '', listAddress(next));
    load();
  }

  function filterInputs() {
    const lists = loadChoices(signal);
    const input = (name, label, placeholder) => element(html`<input name=${name} placeholder=${placeholder} aria-label=${label}>`);
    const typeChoices = async () => (await loadedTypes).map(({ id, name }) => ({ value: id, label: name }));
    const control = (name, label, placeholder, all) => combobox(input(name, label, placeholder), {
      choices: async (text) => matching(await all().catch(() => []), text),
      choose: (value) => filter(name === 'uses' ? usesFilter(value) : { [name]: value }),
    });
    const controls = {
      project: control('project', 'Project', 'All projects', lists.projects),
      type: control('type', 'Type', 'All types', typeChoices),
      uses: control('uses', 'Uses', 'Uses anything', lists.uses),
    };
    controls.status = control('status', 'Status', 'On or off', async () => (await loadedEnvironments, statusChoices()));
    let timer;
    return { set, template };

    function statusChoices() {
      return state.environments.flatMap(({ name }) => [
        { value: `${name}:enabled`, label: `on in ${name}` }, { value: `${name}:disabled`, label: `off in ${name}` }]);
    }

    /** Shows the filters, or one of them after its choices were loaded. */
    function set(only) {
      const { type = '', project = '', contextField, segment, status = '' } = state.filters;
      const values = {
        project: [project],
        type: [type, state.types.find(({ id }) => id === type)?.name ?? type],
        uses: [contextField ?? segment ?? ''],
        status: [status, statusChoices().find(({ value }) => value === status)?.label ?? status],
      };
      for (const name of only ? [only] : Object.keys(controls)) controls[name].set(...values[name]);
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
        <p class="detail count" role="status" tabindex="-1">${range()}</p>
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

  /** The part of the list that is shown. */
  function range() {
    if (!state.page) return nothing;
    const { features, total } = state.page;
    if (features.length === 0) return total > 0 ? 'No more toggles' : 'No toggles';
    const start = Number(state.filters.offset ?? 0);
    return `${(start + 1).toLocaleString('en')}–${(start + features.length).toLocaleString('en')} of ${counted(total, 'toggle')}`;
  }

  function empty(total) {
    const { filters } = state;
    const all = (label) => html`<a data-here href="#/toggles">${label}</a>`;
    if (total > 0) return html`<p class="empty">There are no more toggles. ${all('Show the first ones')}.</p>`;
    if (['query', 'state', ...filterNames].some((name) => filters[name])) {
      const { archived } = state.counts;
      return html`<p class="empty">${filters.state === 'potentially-stale' ? 'Nothing is overdue. ' : nothing}No toggle matches the filters.
        ${archived > 0 && filters.state !== 'archived' ? html`<a data-here href=${listAddress({ ...filters, state: 'archived' })}>${
    archived === 1 ? '1 archived toggle matches' : `${archived.toLocaleString('en')} archived toggles match`}</a>. ` : nothing}
        ${all('Show all toggles')}.</p>`;
    }
    return html`<p class="empty">There are no toggles yet. ${may('CREATE_FEATURE') ? 'Create one, or bring those of an Unleash with '
      : 'An editor can create one, or bring those of an Unleash with '}<code>toggleadmin import unleash</code>.</p>`;
  }
}

/** The filters that have a value, in the order of addresses. */
const tidy = (filters) => Object.fromEntries(names.map((name) => [name, filters[name]]).filter(([, value]) => value));

/** The filters of an address. */
const read = (parameters) => tidy(Object.fromEntries(parameters));

/** The state that a list shows, and its other filters, whatever the order and the page. */
const conditions = ({ state: shown = '', sortBy, sortOrder, offset, ...others }) => ({ shown, others });

/** The order of a list whose address has none: the best match of a search first, otherwise the toggle that is due first. */
const order = ({ query }) => ({ sortBy: query ? 'relevance' : 'potentiallyStaleAt', sortOrder: 'asc' });

/** The filters for a choice of what toggles use. */
function usesFilter(value) {
  const [, name, of] = /^(\w+):(.*)$/s.exec(value) ?? [];
  return { contextField: undefined, segment: undefined, ...name && { [name]: of } };
}

/** Reports whether a toggle is on in an environment. */
const isOn = ({ environments }, { name }) => environments.some((state) => state.name === name && state.enabled);

/** A date in one line, with the exact one in its title. */
const day = (value) => (value ? html`<time datetime=${value} title=${exactTime(value)}>${relativeDays(value)}</time>` : nothing);

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
    projects: once(async () => [...(await countToggles(null, signal)).projects].map(([project, numbers]) => (
      { value: project, label: project, detail: counted(numbers[''], 'toggle') }))),
    uses: once(async () => {
      const [fields, segments] = await Promise.all([call('GET', '/api/admin/context', undefined, { signal }), loadSegments(signal)]);
      return [
        ...segments.map(({ name }) => ({ value: `segment:${name}`, label: name, detail: 'segment' })),
        ...fields.map(({ name }) => ({ value: `contextField:${name}`, label: name, detail: 'context field' })),
      ];
    }),
  };
}
