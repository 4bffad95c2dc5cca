// Toggles: the list. The address has the filters, so a view can be shared.

import { call } from '../api.js';
import { failure, focusOn, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { loadEnvironments } from '../environment.js';
import { isPlainClick, tabs } from '../tabs.js';
import { html, nothing, render as show } from '../template.js';
import { counts, countToggles, isPlain, latestList, listAddress, noToggles, searchToggles, stageNames, toggleChanges } from '../toggle.js';
import { allowed } from '../why.js';
import { conditions, filterInputs, filterNames, order, read, tidy } from './toggles-filters.js';
import { toggleSelection } from './toggles-selection.js';
import { isWide, toggleTable, view as look } from './toggles-table.js';

export async function render(content, context) {
  if (context.detail) {
    const { renderToggle } = await import('./toggle-page.js');
    return renderToggle(content, context);
  }
  const { may, search, signal, setActions, setProject } = context;
  const state = {
    filters: read(search),
    typed: search.get('query') ?? '', // in the search
    page: null, // {features, total}
    error: null,
    busy: true,
    counts: /** @type {Object} */ ({}), // numbers by stage
    types: [],
    environments: [],
    line: /** @type {(toggle: Object) => unknown} */ (() => null), // of the use of a toggle in 24 hours
    switching: new Set(), // switches that wait for the API, as `NAME ENVIRONMENT`
    selected: new Map(), // toggles by their name, including those of other pages
    selecting: null, // {done, total, stop}, while all toggles that match are being selected
    isFilterOpen: false, // the form that adds a filter
  };
  let newest = new AbortController(); // of the newest search
  const kept = window.history.state ?? {}; // what this entry of the history showed
  for (const toggle of kept.selected ?? []) state.selected.set(toggle.name, toggle);

  const loadedTypes = call('GET', '/api/admin/feature-types', undefined, { signal }).then(({ types }) => {
    state.types = types;
    draw();
    return types;
  });
  const loadedEnvironments = loadEnvironments(signal).then((environments) => {
    state.environments = environments;
    draw();
  });
  const inputs = filterInputs(state, { context, filter, draw });
  const selection = toggleSelection(state, context, draw);
  offerActions().catch(() => {}); // without a connection, the page is shown again
  isWide.addEventListener('change', draw, { signal });
  toggleChanges.addEventListener('change', load, { signal });
  window.addEventListener('scrollend', selection.keep, { signal });
  content.addEventListener('click', stay);
  inputs.set();
  draw();
  await Promise.all([loadedTypes, loadedEnvironments, load()]);
  window.scrollTo(0, kept.scroll ?? 0);
  if (may('CREATE_FEATURE') && draftFor('create-toggle') !== undefined) create();

  async function offerActions() {
    const { viewMenu } = await import('./toggles-view.js'); // the first view does not need it
    if (signal.aborted) return;
    const changed = () => {
      offerActions();
      draw();
    };
    setActions(viewMenu(look, changed, context.user && saveView), html`<button type="button" class="optional" @click=${saveFile}>Download CSV</button>`,
      allowed({ permission: 'CREATE_FEATURE', to: 'create toggles' }, context, 'Create toggle', html`<button type="button" class="primary" @click=${create}>Create toggle</button>`));
  }

  /** Finds out where the user may ask for what needs a permission that is missing. */
  async function learnAsking(toggles) {
    const locked = toggles.filter(({ project, environments }) => environments.some(({ name }) => !may('UPDATE_FEATURE_ENVIRONMENT', project, name)));
    await context.learnAsking([...new Set(locked.map(({ project }) => project))]);
    draw();
  }

  /** Loads what the filters select. */
  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    latestList.address = listAddress(state.filters);
    setProject(state.filters.project ?? '');
    state.busy = true;
    draw();
    try {
      state.page = await searchToggles({ ...order(state.filters), ...state.filters, favoritesFirst: true }, current);
      latestList.toggles = state.page.features.map(({ project, name }) => ({ project, name }));
      state.error = null;
      state.busy = false;
      draw();
      learnAsking(state.page.features);
      loadUse(state.page.features, current);
      countStages(current); // later: it takes longer
    } catch (error) {
      if (current.aborted) return;
      Object.assign(state, { error, page: null, busy: false, counts: unknownCounts });
      draw();
    }
  }

  async function loadUse(toggles, current) {
    if (toggles.length === 0) return;
    try {
      const { loadLines } = await import('../recent-use.js'); // the first view does not need it
      state.line = await loadLines(toggles, current);
    } catch {
      return; // the list is there
    }
    draw();
  }

  function draw() {
    show(view(), content);
  }

  function view() {
    const { page, error } = state;
    return html`
      ${stageTabs()}
      ${inputs.template()}
      <section class="results toggle-list" aria-label="Toggles that match" aria-busy=${state.busy ? 'true' : nothing}>
        ${error ? failure(error, load) : !page ? loading('the toggles') : page.features.length === 0 ? empty(state, may('CREATE_FEATURE')) : toggleTable(state, selection, context, draw)}
      </section>
      ${selection.bulk()}`;
  }

  function stageTabs() {
    const current = state.filters.stage ?? '';
    return tabs('Stages', Object.entries(stageNames).map(([name, label]) => (
      { label, count: state.counts[name], isCurrent: name === current, href: listAddress({ ...state.filters, stage: name, offset: undefined }) })));
  }

  /** Counts the toggles of each stage. */
  async function countStages(current) {
    const { shown, others } = conditions(state.filters);
    const key = JSON.stringify(others);
    let unknown; // the list is there without the numbers
    if (counts.key !== key) {
      state.counts = { [shown]: state.page.total };
      draw();
      try {
        counts.of = Object.entries(others).every(([name, value]) => ['project', 'type'].includes(name) && isPlain(value))
          ? await typeCounts(others.project, others.type, current) : await searchStages(shown, others, state.page.total, current);
        counts.key = key;
      } catch {
        unknown = { ...unknownCounts, ...state.counts };
      }
    }
    if (current.aborted) return;
    state.counts = unknown ?? counts.of;
    draw();
    const list = content.querySelector('.tabs'); // which can be wider than the window
    list.scrollLeft += Math.max(0, (list.querySelector('[aria-current]')?.getBoundingClientRect().right ?? 0) - list.getBoundingClientRect().right);
  }

  async function create() {
    const [types, { openToggleEditor }] = await Promise.all([loadedTypes, import('./toggle-editor.js')]); // the first view does not need it
    openToggleEditor(null, types, context, isPlain(state.filters.project ?? '') ? state.filters.project : undefined);
  }

  async function saveView() {
    const { openSave } = await import('../saved-views.js'); // the first view does not need it
    openSave(state.filters, context);
  }

  async function saveFile() {
    if (!state.page) return;
    const { saveToggles } = await import('./toggles-file.js'); // the first view does not need it
    await saveToggles(state, context);
  }

  /** Follows links to other views of this list without a new page. */
  async function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    const { offset } = state.filters;
    state.filters = read(new URLSearchParams(link.hash.split('?')[1] ?? ''));
    window.history.pushState(null, '', listAddress(state.filters));
    selection.keep();
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
}

/** Numbers that were not loaded. */
const unknownCounts = Object.fromEntries(Object.keys(stageNames).map((stage) => [stage, null]));

async function typeCounts(project, type, current) {
  const { total, types } = await countToggles(project, current);
  return type ? types.get(type) ?? noToggles : total;
}

/** Counts the toggles of each stage by searches. `total` is the number of those in the stage that is shown. */
async function searchStages(shown, others, total, current) {
  const stages = Object.keys(stageNames).filter(Boolean);
  const totals = await Promise.all(stages.map((stage) => (
    stage === shown ? { total } : searchToggles({ ...others, stage, limit: 1 }, current))));
  const of = Object.fromEntries(stages.map((stage, i) => [stage, totals[i].total]));
  return { ...of, '': stages.reduce((sum, stage) => sum + (stage === 'archived' ? 0 : of[stage]), 0) };
}

/** What the list says if it has no toggle. */
function empty({ filters, counts: { archived }, page: { total } }, mayCreate) {
  const all = (label) => html`<a data-here href="#/toggles">${label}</a>`;
  if (total > 0) return html`<p class="empty">There are no more toggles. ${all('Show the first ones')}.</p>`;
  if (['query', 'stage', ...filterNames].some((name) => filters[name])) {
    return html`<p class="empty">${filters.stage === 'overdue' ? 'Nothing is overdue. ' : nothing}No toggle matches the filters.
      ${archived > 0 && filters.stage !== 'archived' ? html`<a data-here href=${listAddress({ ...filters, stage: 'archived' })}>${
  archived === 1 ? '1 archived toggle matches' : `${archived.toLocaleString('en')} archived toggles match`}</a>. ` : nothing}
      ${all('Show all toggles')}.</p>`;
  }
  return html`<p class="empty">There are no toggles yet. ${mayCreate ? 'Create one, or bring those of an Unleash with '
    : 'An editor can create one, or bring those of an Unleash with '}<code>toggleadmin import unleash</code>.</p>`;
}
