// Home: what concerns the user. Each section loads on its own, shows a few rows, and leads to the full list.

import { call } from '../api.js';
import { requestAddress, requestBadge, requestTitle, searchRequests } from '../change-request.js';
import { counted, failure, loading, logAddress, text } from '../dom.js';
import { isProduction, loadEnvironments } from '../environment.js';
import { loadProjects, projectAddress } from '../project.js';
import { visitedPages } from '../recent.js';
import { html, nothing, render as show } from '../template.js';
import { listAddress, removal, searchToggles, stageBadge, toggleAddress, toggleChanges } from '../toggle.js';

const most = 5; // rows of a section
const mostNamed = 40; // toggles whose changes are read, besides those of the user, by who may not read the event log

export async function render(content, context) {
  const { user, may, signal } = context;
  const mayReadLog = may('ADMIN');
  const shown = new Map(); // templates and errors of sections, by their names
  let answers = {}; // to the searches that several sections need
  const own = () => (answers.own ??= searchToggles({ owner: 'me', sortBy: 'potentiallyStaleAt', sortOrder: 'asc', limit: most }, signal));
  const projects = () => (answers.projects ??= loadOwnProjects(signal));
  const starred = () => (answers.starred ??= searchToggles({ favorite: 'true', sortBy: 'name', limit: most }, signal));
  const sections = {
    waiting: { title: 'Waiting for your approval', what: 'the change requests', load: loadWaiting },
    overdue: { title: 'Overdue', what: 'the toggles', load: loadOverdue },
    own: { title: 'Your toggles', what: 'your toggles', load: loadOwn },
    starred: { title: 'Starred', what: 'what you have starred', load: loadStarred },
    changes: { title: 'Production changes', what: 'the changes', load: loadChanges },
    visited: { title: 'Recently visited', what: 'the pages', load: loadVisited },
  };
  toggleChanges.addEventListener('change', loadAll, { signal });
  await loadAll();

  async function loadAll() {
    answers = {};
    await Promise.all(Object.keys(sections).map(load));
  }

  async function load(name) {
    try {
      shown.set(name, { template: await sections[name].load() });
    } catch (error) {
      if (signal.aborted) return;
      answers = {}; // another attempt sends them again
      shown.set(name, { error });
    }
    draw();
  }

  function draw() {
    if (signal.aborted) return;
    show(html`<div class="home">${Object.entries(sections).map(([name, { title, what }]) => {
      const { template, error } = shown.get(name) ?? {};
      return html`<section aria-labelledby="home-${name}"><h2 id="home-${name}">${title}</h2>${
        error ? failure(error, () => load(name)) : template ? template() : loading(what)}</section>`;
    })}</div>`, content);
  }

  async function loadOwn() {
    const { features, total } = await own();
    return () => list(features.map(toggleRow), html`No toggle has you, or a group of yours, as its owner. The person who creates a toggle is its first owner.`,
      total > 0 && html`<a href=${listAddress({ owner: 'me' })}>${all(total, 'toggle')}</a>`);
  }

  async function loadStarred() {
    const [{ features, total }, visible] = await Promise.all([starred(), loadProjects(signal)]);
    const favorites = visible.filter(({ favorite }) => favorite);
    return () => list([
      ...favorites.slice(0, most).map(({ id, name, featureCount }) => html`<a href=${projectAddress(id)}>${text(name)}</a><span class="detail">Project · ${counted(featureCount, 'toggle')}</span>`),
      ...features.map(toggleRow),
    ], 'The star beside a toggle or a project puts it here.',
    total > 0 && html`<a href=${listAddress({ favorite: 'true' })}>${all(total, 'toggle')}</a>`,
    favorites.length > 0 && html`<a href="#/projects?list=favorites">${all(favorites.length, 'project')}</a>`);
  }

  async function loadWaiting() {
    const { requests, total } = await searchRequests({ actionable: true, limit: most }, signal);
    return () => list(requests.map((request) => html`<a href=${requestAddress(request)}>${text(requestTitle(request))}</a><span class="detail"><bdi>${
      request.project}</bdi> · <bdi>${request.createdBy.username}</bdi></span>${requestBadge(request)}`), 'No change request waits for you.',
    total > 0 && html`<a href="#/change-requests">${all(total, 'change request')}</a>`);
  }

  async function loadOverdue() {
    const of = await projects();
    const search = (filters) => searchToggles({ stage: 'overdue', ...filters, sortBy: 'potentiallyStaleAt', sortOrder: 'asc', limit: most }, signal);
    const [mine, theirs] = await Promise.all([search({ owner: 'me' }), of ? search({ project: of }) : { features: [], total: 0 }]);
    const toggles = [...new Map([...mine.features, ...theirs.features].map((toggle) => [toggle.name, toggle])).values()]
      .sort((a, b) => Date.parse(a.potentiallyStaleAt) - Date.parse(b.potentiallyStaleAt)).slice(0, most);
    return () => list(toggles.map(toggleRow), 'No toggle of yours, and none of the projects in which you have a role, is older than the lifetime of its type.',
      mine.total > 0 && html`<a href=${listAddress({ owner: 'me', stage: 'overdue' })}>${all(mine.total, 'toggle')} of yours</a>`,
      theirs.total > 0 && html`<a href=${listAddress({ project: of, stage: 'overdue' })}>${all(theirs.total, 'toggle')} of your projects</a>`);
  }

  /** The last changes of production: of all toggles for who may read the event log, otherwise of toggles by their names. */
  async function loadChanges() {
    const production = (await loadEnvironments(signal)).filter(isProduction).map(({ name }) => name);
    if (production.length === 0) return () => empty('No environment is of the type production.');
    const [{ eventList, haveSegments }, { searchEvents }, { types }, { undoOf }, { undoTogether }] = await Promise.all([
      import('../event-list.js'), import('../event-search.js'), import('../event-types.js'), import('./undo.js'), import('./undo-together.js')]); // the other sections do not wait for them
    const reload = () => load('changes');
    const events = eventList({ may, signal, undo: (event, listed) => [undoOf(event, context, reload), undoTogether(event, listed, context, reload)] }, draw);
    const search = (filters) => searchEvents({ type: Object.keys(types.Toggles).join(','), environment: production.join(','), ...filters }, signal, most);
    const named = mayReadLog ? null : await namedToggles();
    const found = named?.names === '' ? [] : (await search({ feature: named?.names })).events;
    const segment = haveSegments(found) ? await loadSegmentNames() : undefined;
    return () => html`${found.length === 0 ? empty(`Nobody has changed ${named?.others ? 'these toggles' : 'a toggle'} in production yet, as far as the event log goes back.`)
      : events.template(found, { segment })}
      ${named?.others ? html`<p class="detail">Changes of your toggles, those with a star, and ${named.others}. Admins see those of all toggles.</p>` : nothing}
      ${mayReadLog ? links(production.map((name) => html`<a href=${logAddress({ environment: name })}>All changes in <bdi>${name}</bdi></a>`)) : nothing}`;
  }

  async function loadSegmentNames() {
    const { loadSegments, segmentNames } = await import('../segment.js');
    return segmentNames(await loadSegments(signal).catch(() => [])); // without their names, the events have the numbers
  }

  /**
   * The toggles whose changes are shown: who names toggles may read their events.
   * @returns {Promise<{names: string, others: string}>} which toggles they are besides those of the user, '' if they are all that the user sees
   */
  async function namedToggles() {
    const [{ features: mine }, { features: marked }, of] = await Promise.all([own(), starred(), projects()]);
    const { features: used, total } = await searchToggles({ project: of, sortBy: 'lastSeenAt', sortOrder: 'desc', limit: mostNamed }, signal);
    const names = [...new Set([...mine, ...marked, ...used].map(({ name }) => name))].join();
    if (total > mostNamed) return { names, others: `the ${mostNamed} ${of ? 'of your projects ' : ''}that applications used last` };
    return { names, others: of ? 'those of your projects' : '' };
  }

  async function loadVisited() {
    const pages = visitedPages(user);
    return () => list(pages.map(({ address, title, kind }) => html`<a href=${address}>${text(title)}</a><span class="detail">${kind}</span>`),
      'The toggles, projects, segments and change requests that you visit are listed here, in this browser only.');
  }
}

/** The projects in which the user has a role, as a filter of toggles, or undefined. */
async function loadOwnProjects(signal) {
  const { roles } = await call('GET', '/api/admin/user/roles', undefined, { signal });
  const projects = [...new Set(roles.map(({ project }) => project).filter(Boolean))];
  return projects.length === 0 ? undefined : projects.length === 1 ? projects[0] : `IS_ANY_OF:${projects.join(',')}`;
}

/** A toggle, with its stage unless the time of its removal says it. */
const toggleRow = (toggle) => html`<a href=${toggleAddress(toggle)}>${text(toggle.name)}</a><span class="detail"><bdi>${toggle.project}</bdi></span>${
  ['overdue', 'to-remove'].includes(toggle.stage) ? nothing : stageBadge(toggle)}<span class="due">${removal(toggle)}</span>`;

const all = (total, ...words) => (total === 1 ? counted(total, ...words) : `All ${counted(total, ...words)}`);

const empty = (words) => html`<p class="empty">${words}</p>`;

/** A section: its rows, or what it means that there are none, and links to full lists. */
const list = (rows, words, ...to) => html`${rows.length === 0 ? empty(words) : html`<ul class="rows">${rows.map((row) => html`<li>${row}</li>`)}</ul>`}${links(to.filter(Boolean))}`;

const links = (to) => (to.length === 0 ? nothing : html`<p class="full">${to}</p>`);
