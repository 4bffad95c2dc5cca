// The page of one toggle: its switch and strategies in each environment, its usage, its history, and its details. The address has the tab:
// `#/toggles/PROJECT/NAME/ENVIRONMENT`, or `?tab=` for the others.

import { call, read } from '../api.js';
import { openRequestsOf, requestChanges } from '../change-request.js';
import { copyText } from '../clipboard.js';
import { loadPlaces, placesOfToggle } from '../code-reference.js';
import { failure, focusOn, loading, logAddress, once, text } from '../dom.js';
import { environmentAddress } from '../environment.js';
import { peopleTypes } from '../event-search.js';
import { star } from '../favorite.js';
import { linked } from '../linked.js';
import { projectPath } from '../project.js';
import { loadRecentUse } from '../recent-use.js';
import { loadSegments } from '../segment.js';
import { isPlainClick } from '../tabs.js';
import { html, nothing, render as show } from '../template.js';
import { exactTime, relativeTime } from '../time.js';
import { latestList, listAddress, newestChange, stageBadge, toggleAddress, toggleChanges, togglePath } from '../toggle.js';
import { allowed, offered } from '../why.js';
import { openClone } from './dependency.js';
import { hasOtherProject, openMove } from './project-move.js';
import { actions, needOf, openAction } from './toggle-actions.js';
import { toggleCare } from './toggle-care.js';
import { managedBy, toggleDetails } from './toggle-details.js';
import { continuesEditing, openToggleEditor } from './toggle-editor.js';
import { environmentPanel } from './toggle-environment.js';
import { toggleHistory } from './toggle-history.js';
import { toggleLinks } from './toggle-links.js';
import { toggleMatrix } from './toggle-matrix.js';
import { loadChanges, productionUse } from './toggle-production.js';
import { nextStep } from './next-step.js';
import { askedFor } from './toggle-requests.js';
import { loadTagTypes, toggleTags } from './toggle-tags.js';

const tabs = { usage: 'Usage', history: 'History', details: 'Details' };

export async function renderToggle(content, context) {
  const { detail, search, may, signal, announce, setTitle, setActions, setPath } = context;
  const [project, name = '', environment, kind, id] = detail.split('/');
  if (kind === 'strategies' && id) {
    const { renderStrategy } = await import('./strategy-page.js');
    return renderStrategy(content, context, { toggle: { project, name }, environment, id });
  }
  setTitle(name || project);
  setPath(html`<a href=${latestList.address}>Toggles</a>`, html`<a href=${listAddress({ project })}>${text(project)}</a>`, neighbors(name));
  show(loading('the toggle'), content);
  const path = togglePath({ project, name });
  const state = {
    toggle: null, // with its switch and strategies in each environment of its project
    project: null, // its overview; null if it could not be loaded
    types: [], tagTypes: [], // of toggles, of their tags
    segments: null,
    requests: [], // its open change requests
    search, // the parameters of the address
    tab: search.get('tab'), // null: an environment
    environment, // its name; undefined: the first one
    compared: search.get('compare'), // the name of the environment that it is compared with, or null
    busy: false, // a switch or a list of strategies waits for the API
    usage: null, // see toggle-usage.js
    recent: null, // its usage in the last 24 hours
    changes: [], change: null, // its events since yesterday; its newest event, undefined if there is none
    history: null, places: null, // {events, next}; its places in code
    error: null, // of what the tab shows
  };
  const matrix = toggleMatrix(state, context, draw);
  const panel = environmentPanel(state, context, draw);
  const history = toggleHistory(state, context, { draw, reload: loadMore });
  const [{ types }, of, requests, , first] = await Promise.all([
    call('GET', '/api/admin/feature-types', undefined, { signal }),
    call('GET', `${projectPath(project)}/overview`, undefined, { signal }).catch(() => null), // the page is of use without it
    loadRequests(),
    context.learnAsking([project]),
    call('GET', path, undefined, { signal }).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    }),
  ]);
  if (!first) {
    show(html`<p class="empty">There is no such toggle in this project. It may have been deleted${may('ADMIN')
      ? html`: <a href=${logAddress({ feature: name })}>look in the event log</a>` : nothing}.</p>`, content);
    return undefined;
  }
  Object.assign(state, { types, project: of, requests, toggle: first });
  toggleChanges.addEventListener('change', reload, { signal });
  requestChanges.addEventListener('change', showRequests, { signal });
  content.addEventListener('click', stay);
  drawHead();
  draw();
  if (may('UPDATE_FEATURE', project) && continuesEditing(name)) edit();
  loadAside();
  return loadMore();

  /** Loads what the page has beside the toggle itself. The page is complete without it. */
  function loadAside() {
    const load = async (property, loaded) => {
      state[property] = await loaded.catch(() => state[property]);
      if (!signal.aborted) draw();
    };
    load('change', newestChange({ name }, peopleTypes, signal));
    load('recent', loadRecentUse({ name }, signal));
    load('changes', loadChanges({ name }, signal));
    load('tagTypes', loadTagTypes(signal));
    if (state.toggle.environments.some(({ strategies }) => strategies.some(({ segments }) => segments.length > 0))) load('segments', loadSegments(signal).catch(() => []));
  }

  function loadRequests() {
    return openRequestsOf({ project, name }, signal).catch(() => []); // the page is of use without them
  }

  async function showRequests() {
    state.requests = await loadRequests();
    if (!signal.aborted) draw();
  }

  /** Loads what the tab shows besides the toggle. */
  async function loadMore() {
    try {
      if (state.tab === 'usage') {
        const { toggleUsage } = await import('./toggle-usage.js');
        state.usage ??= toggleUsage(context, draw);
        await state.usage.load(state.toggle, state.search);
      } else if (state.tab === 'history') {
        await history.load();
      } else if (state.tab === 'details') {
        state.places = await loadPlaces(state.toggle, signal);
      }
      state.error = null;
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  async function reload() {
    try {
      state.toggle = await call('GET', path, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) show(failure(error, reload), content);
      return;
    }
    drawHead();
    draw();
    if (document.activeElement === document.body) focusOn('.head button');
    loadAside();
    await loadMore();
  }

  /** The environment of the tab, or undefined. */
  function current() {
    if (state.tab in tabs) return undefined;
    return state.toggle.environments.find((item) => item.name === state.environment) ?? state.toggle.environments[0];
  }

  /** Shows the name, the state and the actions. */
  function drawHead() {
    setTitle(name, html`<button type="button" class="more" aria-label="Copy the name" @click=${() => copyText(name, 'Name copied.', announce)}>Copy</button>`,
      star(state.toggle, path, context, drawHead), stageBadge(state.toggle));
    setActions(
      allowed({ permission: 'UPDATE_FEATURE', project, to: `edit ${name}` }, context, 'Edit', html`<button type="button" @click=${once(edit)}>Edit</button>`),
      html`<a class="button" href="#/playground?${new URLSearchParams({ toggle: name, project })}">Try in the playground</a>`,
      allowed({ permission: 'CREATE_FEATURE', project, to: `clone ${name}` }, context, 'Clone',
        html`<button type="button" @click=${() => openClone(state.toggle, context)}>Clone</button>`),
      hasOtherProject(project, context) && allowed({ permission: 'MOVE_FEATURE_TOGGLE', project, to: `move ${name} to another project` }, context, 'Move to project…',
        html`<button type="button" @click=${() => openMove(state.toggle, context)}>Move to project…</button>`),
      actionButtons());
  }

  function draw() {
    const { toggle } = state;
    show(html`
      <p class="description">${toggle.description ? linked(toggle.description)
    : html`<span class="detail">No description. Say what the toggle is for, and when it can be removed.</span>`}</p>
      <div class="about">${toggleTags(toggle, state.tagTypes, context)}${toggleLinks(toggle, state.project, context)}${toggleCare(toggle, state.project, context)}</div>${managedBy(toggle)}
      ${nextStep(toggle, context)}
      ${lastChange()}
      ${askedFor(state.requests, toggle)}
      ${matrix(current())}${productionUse(state, context)}
      <ul class="tabs" aria-label="Parts of the toggle">
        ${tab(environmentAddress(toggle, (current() ?? toggle.environments[0])?.name ?? ''), 'Strategies', !(state.tab in tabs))}
        ${Object.entries(tabs).map(([key, label]) => tab(`${toggleAddress(toggle)}?tab=${key}`, label, key === state.tab))}
      </ul>
      ${state.tab === 'usage' ? usage(state, loadMore) : state.tab === 'history' ? history.template() : state.tab === 'details' ? html`${toggleDetails(toggle, state.types, context)}${code(state, loadMore)}`
    : current() ? panel(current()) : nothing}`, content);
  }

  /** Who has changed the toggle last. */
  function lastChange() {
    const { change: event } = state;
    // The line is there from the beginning: what is below must not move while someone clicks on it.
    if (!event) return html`<p class="detail last-change">${event === null ? '\u00a0' : 'The event log has no change.'}</p>`;
    return html`<p class="detail last-change">${event.createdByKind === 'system' ? 'Last changed automatically' : html`Last changed by <bdi>${event.createdBy}</bdi>`},
      <a data-here href="${toggleAddress(state.toggle)}?tab=history"><time datetime=${event.createdAt} title=${exactTime(event.createdAt)}>${
  relativeTime(new Date(event.createdAt))}</time></a>.</p>`;
  }

  function tab(address, label, isCurrent) {
    return html`<li><a data-here href=${address} aria-current=${isCurrent ? 'true' : nothing}>${label}</a></li>`;
  }

  function actionButtons() {
    return Object.values(actions).filter(({ applies }) => applies(state.toggle)).map((action) => offered(needOf(action, [state.toggle]), context, action.label, (label) => html`
      <button type="button" class=${action.danger ? 'danger quiet' : nothing} @click=${() => openAction(action, [state.toggle], context, ended(action))}>${label}</button>`));
  }

  async function edit() {
    try {
      openToggleEditor(await read(path, { signal }), state.types, context);
    } catch (error) {
      if (!signal.aborted) announce(`The toggle cannot be edited. ${error.message}`);
    }
  }

  /** Goes to the list after the toggle was deleted. */
  function ended(action) {
    return (rest, done) => {
      if (action === actions.delete && done.length > 0) window.location.hash = listAddress({ stage: 'archived' });
    };
  }

  /** Shows another tab without loading the page. */
  function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    const [address, query] = link.hash.split('?');
    state.usage?.leave();
    state.search = new URLSearchParams(query);
    state.tab = state.search.get('tab');
    state.compared = state.search.get('compare');
    state.environment = address.split('/')[4];
    window.history.pushState(null, '', link.hash);
    draw();
    loadMore();
  }
}

function code({ error, places, toggle }, retry) {
  return error ? failure(error, retry) : places ? placesOfToggle(places, toggle) : loading('the places in code');
}

function usage({ error, usage: shown }, retry) {
  return error ? failure(error, retry) : shown ? shown.template() : loading('the usage');
}

/** Links to the toggles before and after this one in the latest list, or null. */
function neighbors(name) {
  const all = latestList.toggles;
  const i = all.findIndex((other) => other.name === name);
  if (i < 0 || all.length === 1) return null;
  const link = (other, rel, label, shown) => (other ? html`<a href=${toggleAddress(other)} rel=${rel} title=${other.name}
    aria-label="${label}: ${other.name}">${shown}</a>`
    : html`<span class="detail" aria-hidden="true">${shown}</span>`);
  return html`<span class="neighbors">${link(all[i - 1], 'prev', 'Previous toggle of the list', '‹ Previous')}${
    link(all[i + 1], 'next', 'Next toggle of the list', 'Next ›')}</span>`;
}
