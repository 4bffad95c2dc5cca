// Usage: the applications whose SDKs report, and the names that they ask for and that no toggle has. The address has the search, the order
// and the page, and the project that applications use: `#/usage?query=shop&project=shop`, `#/usage/unknown-names`, `#/usage/applications/NAME`.

import { call } from '../api.js';
import { applicationAddress, applicationLink, applicationsPath as path } from '../application.js';
import { reportHint } from '../client-token.js';
import { failure, focusOn, loading, range } from '../dom.js';
import { draftFor } from '../draft.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { marked, matcher } from '../search.js';
import { denseTable } from '../table.js';
import { following, tabs } from '../tabs.js';
import { html, live, nothing, render as show } from '../template.js';
import { shortDate } from '../time.js';
import { lastUsed, toggleAddress } from '../toggle.js';
import { openToggleEditor } from './toggle-editor.js';

const pageSize = 50;
const perRequest = 100; // applications
const shownReports = 3; // applications that used a name

/** What differs from when a toggle was last used. */
const reportMeaning = html`<p class="detail">“Last report” is when an SDK of the application last registered or reported evaluations. The page of a toggle says when it was last used.</p>`;

/** What the address of each tab begins with. */
const addresses = { applications: '#/usage', unknown: '#/usage/unknown-names' };

/** The names that a toggle can have. */
const toggleName = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,100}$/;

export async function render(content, context) {
  const [, encoded] = /^applications\/(.+)$/.exec(context.detail) ?? [];
  if (encoded !== undefined) return renderApplication(content, context, encoded);
  const { may, signal } = context;
  const state = {
    ...read(window.location.hash),
    page: null, // {applications, total}
    unknown: null, // all unknown names
    environments: [],
    types: [],
    busy: true,
    error: null,
  };
  let newest = new AbortController(); // of the newest load
  let timer;
  await load();
  const continued = draftFor('create-toggle');
  if (continued !== undefined) await create(continued);

  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    state.busy = true;
    draw();
    try {
      const loaded = await Promise.all([
        loadApplications(state, current),
        state.unknown ?? call('GET', '/api/admin/metrics/unknown-flags', undefined, { signal: current }).then(({ unknownFlags }) => unknownFlags),
        state.environments.length > 0 ? state.environments : loadEnvironments(current),
      ]);
      [state.page, state.unknown, state.environments] = loaded;
      Object.assign(state, { busy: false, error: null });
    } catch (error) {
      if (current.aborted) return;
      Object.assign(state, { busy: false, error });
    }
    draw();
  }

  function draw() {
    const { tab, error, page } = state;
    const unloaded = error ? null : undefined;
    show(html`
      ${tabs('Lists', [['applications', 'Applications', page ? page.total : unloaded], ['unknown', 'Unknown names', page ? foundNames().length : unloaded]]
    .map(([name, label, count]) => ({ label, count, isCurrent: name === tab, href: address(name, { query: state.filters.query, project: state.filters.project }) })), ({ href }) => go(href))}
      ${finder({
    label: tab === 'unknown' ? 'Search names and applications' : 'Search names',
    value: state.filters.query,
    search: searchFor,
    count: page ? range(total(), state.filters.offset, pageSize, tab === 'unknown' ? 'unknown name' : 'application') : '',
  })}
      <section class="results" aria-label=${tab === 'unknown' ? 'Unknown names' : 'Applications'} aria-busy=${state.busy ? 'true' : nothing}>
        ${error ? failure(error, load) : !page ? loading('the usage') : tab === 'unknown' ? unknownNames() : applications()}
      </section>`, content);
  }

  function total() {
    return state.tab === 'unknown' ? foundNames().length : state.page.total;
  }

  /** The unknown names that match the search, in the order of the list. */
  function foundNames() {
    const { query, sortBy, sortOrder } = state.filters;
    const matches = matcher(query);
    const key = ({ name, lastSeenAt }) => (sortBy === 'name' ? name : lastSeenAt);
    return state.unknown.filter(({ name, reports }) => matches(name, ...reports.map(({ appName }) => appName))).sort((a, b) => (
      (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (sortOrder === 'asc' ? 1 : -1)));
  }

  function applications() {
    const { page, filters: { query, project } } = state;
    const about = project ? html`<p class="lead">The applications whose client tokens contain the toggles of the project <bdi>${project}</bdi>.</p>` : nothing;
    if (page.applications.length === 0) {
      return html`${about}<p class="empty">${query || project ? `No application matches${query ? ' the search' : ''}.` : html`No application has reported in the last 90 days. ${reportHint(may, { project })}`}</p>`;
    }
    return html`${about}${denseTable({
      caption: 'Applications',
      columns: [
        { ...sortable('name'), cell: ({ appName }) => applicationLink(appName, marked(appName, query)) },
        { name: 'Environments', cell: ({ environments }) => environmentList(environments.map(({ name }) => name), state.environments) },
        { name: 'Instances', kind: 'number', cell: ({ environments }) => number(environments.reduce((sum, { instanceCount }) => sum + instanceCount, 0)) },
        { name: 'SDKs', kind: 'one-line', cell: ({ environments }) => sdkList(environments.flatMap(({ sdks }) => sdks)) },
        { ...sortable('lastSeenAt'), cell: lastUsed },
      ],
      items: page.applications,
      key: ({ appName }) => appName,
      ...sorting(),
    })}${reportMeaning}${pages()}`;
  }

  function unknownNames() {
    const { filters: { query, offset } } = state;
    const found = foundNames();
    const about = html`<p class="lead">Names that applications used in the last 24 hours, and that no toggle has: it was deleted or archived, or the name is wrong.</p>`;
    if (found.length === 0) return html`${about}<p class="empty">${query ? 'No unknown name matches the search.' : 'There are none.'}</p>`;
    return html`${about}${denseTable({
      caption: 'Unknown names',
      columns: [
        { ...sortable('name'), cell: ({ name }) => html`${marked(name, query)}${
          toggleName.test(name) ? nothing : html`<small class="line">No toggle can have this name.</small>`}` },
        { name: 'Asked for by', kind: 'asked-by', cell: ({ reports }) => html`<div>${reportList(reports, query)}</div>` },
        { ...sortable('lastSeenAt'), cell: lastUsed },
      ],
      items: found.slice(offset, offset + pageSize),
      key: ({ name }) => name,
      ...sorting(),
      ...may('CREATE_FEATURE') && { actions: ({ name }) => ({
        name, items: toggleName.test(name) ? [{ label: 'Create toggle', action: () => create(name) }] : [],
      }) },
    })}${pages()}`;
  }

  function reportList(reports, query) {
    const item = ({ appName, environments }, i) => html`${i > 0 ? ', ' : nothing}${applicationLink(appName, marked(appName, query))} in ${
      environments.map(({ environment }, j) => html`${j > 0 ? ', ' : nothing}<bdi>${environment}</bdi>`)}`;
    const first = reports.slice(0, shownReports).map(item);
    if (reports.length <= shownReports) return first;
    return html`${first} <details class="plain"><summary>and ${(reports.length - shownReports).toLocaleString('en')} more</summary><p>${
      reports.slice(shownReports).map(item)}</p></details>`;
  }

  /** The name of a column that sorts the list. */
  function sortable(by) {
    return { name: by === 'lastSeenAt' ? (state.tab === 'unknown' ? 'Last used' : 'Last report') : state.tab === 'unknown' ? 'Name' : 'Application', kind: 'one-line', compare: true };
  }

  /** The order of the list, for its table. */
  function sorting() {
    const { sortBy, sortOrder } = state.filters;
    return {
      order: `${sortOrder === 'asc' ? '' : '-'}${sortable(sortBy).name}`,
      sort: (order) => go(address(state.tab, { ...state.filters,
        sortBy: order.endsWith(sortable('lastSeenAt').name) ? 'lastSeenAt' : 'name', sortOrder: order.startsWith('-') ? 'desc' : 'asc', offset: 0 })),
    };
  }

  function pages() {
    return pageLinks(`Pages of ${state.tab === 'unknown' ? 'unknown names' : 'applications'}`, total(), state.filters.offset,
      (offset) => address(state.tab, { ...state.filters, offset }), go);
  }

  /** Shows another view of the lists without a new page. */
  async function go(to) {
    const { offset } = state.filters;
    window.history.pushState(null, '', to);
    Object.assign(state, read(window.location.hash));
    await load();
    if (state.filters.offset !== offset) window.scrollTo(0, 0);
    if (document.activeElement === document.body) focusOn('.count', content, { preventScroll: true });
  }

  /** Shows what a search finds, in the same entry of the history. */
  function searchFor(query) {
    Object.assign(state.filters, { query, offset: 0 });
    window.history.replaceState(null, '', address(state.tab, state.filters));
    clearTimeout(timer);
    timer = setTimeout(load, 300);
  }

  async function create(name) {
    if (state.types.length === 0) state.types = (await call('GET', '/api/admin/feature-types', undefined, { signal })).types;
    openToggleEditor(null, state.types, context, undefined, name);
  }
}

/** The page of an application: what it asked for, and its instances. */
async function renderApplication(content, { search, signal, setTitle, setPath }, encoded) {
  const name = decoded(encoded);
  const state = { tab: search.get('tab') === 'instances' ? 'instances' : 'toggles', query: search.get('query') ?? '', offset: offsetOf(search) };
  setTitle(name);
  setPath(html`<a href=${addresses.applications}>Usage</a>`);
  show(loading('the application'), content);
  let application;
  let environments;
  try {
    [application, environments] = await Promise.all([
      call('GET', `${path}/${encodeURIComponent(name)}`, undefined, { signal }), loadEnvironments(signal)]);
  } catch (error) {
    if (error.status !== 404) throw error;
    show(html`<p class="empty">No application with this name has reported in the last 90 days. <a href=${addresses.applications}>Show the applications</a>.</p>`, content);
    return;
  }
  draw();

  function draw() {
    const { seenToggles, instances: all, createdAt, projects } = application;
    const matches = matcher(state.query);
    const toggles = seenToggles.filter((toggle) => matches(toggle.name, toggle.project, ...toggle.environments));
    const found = all.filter(({ instanceId, environment, sdkVersion }) => matches(instanceId, environment, sdkVersion));
    const isInstances = state.tab === 'instances';
    const shown = isInstances ? found : toggles;
    if (state.offset >= shown.length) state.offset = 0;
    const tab = (id, label, count) => ({ label, count, isCurrent: state.tab === id, href: addressOf({ tab: id === 'toggles' ? '' : id }) });
    show(html`
      <dl class="facts"><div><dt>First report</dt><dd>${shortDate(createdAt)}</dd></div>
        <div><dt>Projects of its tokens</dt><dd>${projects.includes('*') ? 'All' : html`<bdi>${projects.join(', ')}</bdi>`}</dd></div></dl>
      ${denseTable({
    caption: 'Environments of the application',
    columns: [
      { name: 'Environment', cell: (environment) => named(environment.name, environments) },
      { name: 'Instances', kind: 'number', cell: ({ instanceCount }) => number(instanceCount) },
      { name: 'SDKs', kind: 'one-line', cell: ({ sdks }) => sdkList(sdks) },
      { name: 'Last report', kind: 'one-line', cell: lastUsed },
    ],
    items: application.environments,
    key: (environment) => environment.name,
  })}${reportMeaning}
      <section aria-label="The last 24 hours">
        ${tabs('The last 24 hours', [tab('toggles', 'Toggles', toggles.length), tab('instances', 'Instances', found.length)], ({ href }) => go(href))}
        ${finder({
    label: isInstances ? 'Search instances' : 'Search toggles',
    value: state.query,
    search: (query) => {
      Object.assign(state, { query, offset: 0 });
      window.history.replaceState(null, '', addressOf({}));
      draw();
    },
    count: range(shown.length, state.offset, pageSize, isInstances ? 'instance' : 'toggle'),
  })}
        <div class="results">${shown.length === 0 ? html`<p class="empty">${state.query ? 'Nothing matches the search.' : isInstances
    ? 'No instance has reported in the last 24 hours.' : 'It has used no toggle in the last 24 hours.'}</p>`
    : isInstances ? instanceTable(found) : toggleTable(toggles)}
        ${pageLinks('Pages', shown.length, state.offset, (offset) => addressOf({ offset }), go)}</div>
      </section>`, content);
  }

  function toggleTable(toggles) {
    return denseTable({
      caption: 'Toggles that the application used',
      columns: [
        { name: 'Toggle', cell: ({ name: toggle, project }) => (project === null
          ? html`${marked(toggle, state.query)} <span class="badge warn">Archived or unknown</span>`
          : html`<a href="${toggleAddress({ project, name: toggle })}?tab=usage">${marked(toggle, state.query)}</a>`) },
        { name: 'Project', kind: 'one-line', cell: ({ project }) => (project === null ? html`<span class="detail">–</span>` : marked(project, state.query)) },
        { name: 'Environments', cell: (toggle) => environmentList(toggle.environments, environments) },
      ],
      items: toggles.slice(state.offset, state.offset + pageSize),
      key: (toggle) => toggle.name,
    });
  }

  function instanceTable(found) {
    return denseTable({
      caption: 'Instances of the application',
      columns: [
        { name: 'Instance', cell: ({ instanceId }) => marked(instanceId, state.query) },
        { name: 'Environment', cell: ({ environment }) => named(environment, environments) },
        { name: 'SDK', kind: 'one-line', cell: ({ sdkVersion, sdkType }) => html`<div>${sdkVersion === null ? html`<span class="detail">Unknown</span>`
          : marked(sdkVersion, state.query)}${sdkType === 'frontend' ? html` <small>Frontend</small>` : nothing}</div>` },
        { name: 'Last report', kind: 'one-line', cell: lastUsed },
      ],
      items: found.slice(state.offset, state.offset + pageSize),
      key: ({ instanceId, environment }) => `${environment} ${instanceId}`,
    });
  }

  function addressOf(changes) {
    const query = new URLSearchParams(Object.entries({ tab: state.tab === 'toggles' ? '' : state.tab, query: state.query, ...changes })
      .filter(([, value]) => value));
    return `${applicationAddress(name)}${query.size > 0 ? '?' : ''}${query}`;
  }

  function go(to) {
    const parameters = new URLSearchParams(to.split('?')[1]);
    window.history.pushState(null, '', to);
    Object.assign(state, { tab: parameters.get('tab') ?? 'toggles', offset: offsetOf(parameters) });
    draw();
    if (document.activeElement === document.body) focusOn('.count', content, { preventScroll: true });
  }
}

/**
 * Loads the applications of a page of the list. The API does not select those of a project, so then all are loaded.
 * @returns {Promise<{applications: Object[], total: number}>}
 */
async function loadApplications({ tab, filters: { query, project, sortBy, sortOrder, offset } }, signal) {
  const order = tab === 'applications' ? { sortBy: sortBy === 'name' ? 'appName' : sortBy, sortOrder } : {};
  const load = (from, limit) => call('GET', `${path}?${new URLSearchParams({ query, ...order, offset: String(from), limit: String(limit) })}`, undefined, { signal });
  const first = tab === 'applications' ? offset : 0;
  if (!project) return load(first, pageSize);
  const all = [];
  for (;;) {
    const page = await load(all.length, perRequest);
    all.push(...page.applications);
    if (page.applications.length === 0 || all.length >= page.total) break;
  }
  const found = all.filter(({ projects }) => projects.includes('*') || projects.includes(project));
  return { applications: found.slice(first, first + pageSize), total: found.length };
}

/** What an address of the lists selects. */
function read(hash) {
  const [list, search] = hash.split('?');
  const parameters = new URLSearchParams(search);
  const sortBy = parameters.get('sortBy') === 'name' ? 'name' : 'lastSeenAt';
  return {
    tab: list === addresses.unknown ? 'unknown' : 'applications',
    filters: {
      query: parameters.get('query') ?? '',
      project: parameters.get('project') ?? '',
      sortBy,
      sortOrder: parameters.get('sortOrder') ?? (sortBy === 'name' ? 'asc' : 'desc'),
      offset: offsetOf(parameters),
    },
  };
}

const offsetOf = (parameters) => (/^\d{1,6}$/.test(parameters.get('offset') ?? '') ? Number(parameters.get('offset')) : 0);

/** The address of a list. */
function address(tab, filters) {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value));
  return `${addresses[tab]}${query.size > 0 ? '?' : ''}${query}`;
}

/** The name in an address. One that is no valid encoding is that of no application. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function finder({ label, value, search, count }) {
  return html`<div class="finder" role="search"><input type="search" aria-label="Search" placeholder=${label} maxlength="1000" autocomplete="off" spellcheck="false"
    dir="auto" .value=${live(value)} @input=${({ target }) => search(target.value)}><p class="detail count" role="status" tabindex="-1">${count}</p></div>`;
}

function pageLinks(label, total, offset, addressOf, go) {
  if (total <= pageSize) return nothing;
  const to = (target, text) => html`<a href=${addressOf(target)} @click=${following(go)}>${text}</a>`;
  return html`<nav class="months" aria-label=${label}>
    ${offset > 0 ? to(Math.max(0, offset - pageSize), '‹ Previous') : nothing}
    ${offset + pageSize < total ? to(offset + pageSize, 'Next ›') : nothing}</nav>`;
}

/** The name of an environment, which may have been deleted since. */
const named = (name, environments) => environmentName(environments.find((environment) => environment.name === name) ?? { name });

const environmentList = (names, environments) => html`<div>${names.map((name, i) => html`${i > 0 ? ', ' : nothing}${named(name, environments)}`)}</div>`;

const number = (count) => count.toLocaleString('en');

/** Names and versions of SDKs: the first one, and how many others there are. */
function sdkList(all) {
  const [first, ...others] = [...new Set(all)].sort();
  if (first === undefined) return html`<span class="detail">Unknown</span>`;
  return html`<div title=${[first, ...others].join(', ')}><bdi>${first}</bdi>${others.length > 0 ? ` and ${others.length} more` : nothing}</div>`;
}
