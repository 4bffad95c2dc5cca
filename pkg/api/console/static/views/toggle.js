// The page of one toggle: its switch and strategies in each environment, its usage, its history, and its details. The address has the tab:
// `#/toggles/PROJECT/NAME/ENVIRONMENT`, or `?tab=` for the others.

import { call, read } from '../api.js';
import { copyText } from '../clipboard.js';
import { differences } from '../compare.js';
import { form, openDialog } from '../dialog.js';
import { counted, failure, focusOn, loading, logAddress, once, text } from '../dom.js';
import { environmentAddress, environmentName, isProduction, toggleSwitch } from '../environment.js';
import { eventList, haveSegments } from '../event-list.js';
import { peopleTypes, searchEvents } from '../event-search.js';
import { linked } from '../linked.js';
import { menu } from '../menu.js';
import { loadRecentUse, recentUse } from '../recent-use.js';
import { reversibly } from '../restore.js';
import { loadSegments, segmentNames } from '../segment.js';
import { copyStrategy, orderStrategies, replaceStrategy, strategyAddress, strategyLabels, strategyPath } from '../strategy.js';
import { isPlainClick } from '../tabs.js';
import { html, nothing, render as show, repeat } from '../template.js';
import { exactTime, relativeTime, time } from '../time.js';
import { changedToggles, latestList, listAddress, newestChange, removal, stateBadge, toggleAddress, toggleChanges, togglePath } from '../toggle.js';
import { dependencyWords, strategyWords, variantWords } from '../words.js';
import { openClone, openDependencyEditor, removeDependency } from './dependency.js';
import { turn } from './switching.js';
import { actions, openAction } from './toggle-actions.js';
import { continuesEditing, openToggleEditor } from './toggle-editor.js';
import { undoOf } from './undo.js';

const shownEvents = 20;
const tabs = { usage: 'Usage', history: 'History', details: 'Details' };

export async function renderToggle(content, context) {
  const { detail, search, may, signal, announce, setTitle, setActions, setPath } = context;
  const [project, name = '', environment, kind, id] = detail.split('/');
  if (kind === 'strategies' && id) {
    const { renderStrategy } = await import('./strategy.js');
    return renderStrategy(content, context, { toggle: { project, name }, environment, id });
  }
  setTitle(name || project);
  setPath(html`<a href=${latestList.address}>Toggles</a>`, html`<a href=${listAddress({ project })}>${text(project)}</a>`, neighbors());
  show(loading('the toggle'), content);
  const path = togglePath({ project, name });
  const state = {
    toggle: null, // with its switch and strategies in each environment
    types: [],
    segments: [],
    search, // the parameters of the address
    tab: search.get('tab'), // null: an environment
    environment, // its name; undefined: the first one
    compared: search.get('compare'), // the name of the environment that it is compared with, or null
    busy: false, // a switch or a list of strategies waits for the API
    usage: null, // see toggle-usage.js
    recent: null, // its usage in the last 24 hours
    change: null, // its newest event, undefined if there is none
    history: null, // {events, next}
    error: null, // of what the tab shows
  };
  const events = eventList({ may, signal, undo: (event) => undoOf(event, context, loadMore) }, draw);
  const [{ types }, first] = await Promise.all([
    call('GET', '/api/admin/feature-types', undefined, { signal }),
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
  Object.assign(state, { types, toggle: first });
  toggleChanges.addEventListener('change', reload, { signal });
  content.addEventListener('click', stay);
  drawHead();
  draw();
  if (may('UPDATE_FEATURE') && continuesEditing(name)) edit();
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
  }

  /** Loads what the tab shows besides the toggle. */
  async function loadMore() {
    try {
      if (state.tab === 'usage') {
        const { toggleUsage } = await import('./toggle-usage.js');
        state.usage ??= toggleUsage(context, draw);
        await state.usage.load(state.toggle, state.search);
      } else if (state.tab === 'history') {
        state.history = await searchEvents({ feature: name }, signal, shownEvents);
        await nameSegments();
      } else if (state.toggle.environments.some(({ strategies }) => strategies.some(({ segments }) => segments.length > 0))) {
        state.segments = await loadSegments(signal);
      }
      state.error = null;
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  /** Loads the segments that the events of the history need, which otherwise have numbers. */
  async function nameSegments() {
    if (state.segments.length === 0 && haveSegments(state.history.events)) state.segments = await loadSegments(signal);
  }

  /** Loads the events before those that the history shows. */
  async function loadOlder() {
    try {
      const older = await searchEvents({ feature: name, cursor: state.history.next }, signal, shownEvents);
      state.history = { events: [...state.history.events, ...older.events], next: older.next };
      await nameSegments();
    } catch (error) {
      if (!signal.aborted) announce(`The events cannot be loaded. ${error.message}`);
    }
    draw();
  }

  function typeName(type) {
    return state.types.find((item) => item.id === type)?.name ?? type;
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
      stateBadge(state.toggle));
    setActions(
      may('UPDATE_FEATURE') && html`<button type="button" @click=${once(edit)}>Edit</button>`,
      html`<a class="button" href="#/playground?${new URLSearchParams({ toggle: name, project })}">Try in the playground</a>`,
      may('CREATE_FEATURE') && html`<button type="button" @click=${() => openClone(state.toggle, context)}>Clone</button>`,
      actionButtons());
  }

  function draw() {
    const { toggle } = state;
    show(html`
      <p class="description">${toggle.description ? linked(toggle.description)
    : html`<span class="detail">No description. Say what the toggle is for, and when it can be removed.</span>`}</p>
      ${lastChange()}
      <ul class="tabs" aria-label="Parts of the toggle">
        ${toggle.environments.map((item) => tab(environmentAddress(toggle, item.name), html`${environmentName(item)} <span class="number">${
    item.enabled ? 'on' : 'off'}</span>`, item === current()))}
        ${Object.entries(tabs).map(([key, label]) => tab(`${toggleAddress(toggle)}?tab=${key}`, label, key === state.tab))}
      </ul>
      ${state.tab === 'usage' ? usage() : state.tab === 'history' ? history() : state.tab === 'details' ? details() : current() ? inEnvironment(current()) : nothing}`, content);
  }

  /** Links to the toggles before and after this one in the latest list, or null. */
  function neighbors() {
    const all = latestList.toggles;
    const i = all.findIndex((other) => other.name === name);
    if (i < 0 || all.length === 1) return null;
    const link = (other, rel, label, shown) => (other ? html`<a href=${toggleAddress(other)} rel=${rel} title=${other.name}
      aria-label="${label}: ${other.name}">${shown}</a>`
      : html`<span class="detail" aria-hidden="true">${shown}</span>`);
    return html`<span class="neighbors">${link(all[i - 1], 'prev', 'Previous toggle of the list', '‹ Previous')}${
      link(all[i + 1], 'next', 'Next toggle of the list', 'Next ›')}</span>`;
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
    return Object.values(actions).filter((action) => may(action.permission) && action.applies(state.toggle)).map((action) => html`<button type="button"
      class=${action.danger ? 'danger quiet' : nothing} @click=${() => openAction(action, [state.toggle], announce, ended(action))}>${action.label}</button>`);
  }

  function inEnvironment(item) {
    const { toggle } = state;
    const { strategies } = item;
    const mayCreate = may('CREATE_FEATURE_STRATEGY');
    const sources = mayCreate ? toggle.environments.filter((other) => other !== item && other.strategies.length > 0) : [];
    return html`<section class="environment-panel" aria-label=${item.name} aria-busy=${state.busy ? 'true' : nothing}>
      <div class="title">
        <h2>${environmentName(item)}</h2>
        <div class="on">${may('UPDATE_FEATURE_ENVIRONMENT') && !toggle.archived ? toggleSwitch({
    label: `${name} in ${item.name}`, on: item.enabled, busy: state.busy,
    change: () => turn(toggle, item, !item.enabled, context, (busy, now = item.enabled) => {
      state.busy = busy;
      item.enabled = now;
      draw();
    }),
  }) : item.enabled ? 'on' : 'off'}</div>
      </div>
      ${state.recent ? recentUse(state.recent, item) : html`<p class="detail recent-use">\u00a0</p>`}
      ${toggle.dependencies.map((parent) => html`<p class="detail">Only if <bdi>${dependencyWords(parent)}</bdi>.</p>`)}
      ${strategies.length === 0 ? html`<p class="empty">There are no strategies. ${item.enabled ? nothing : 'Turned on, it is on for everyone.'}</p>` : html`
        <p class="detail">${item.enabled ? 'On if one of these holds, otherwise off:' : 'Off. Turned on, it is on if one of these holds:'}</p>
        <ol class="strategies">${repeat(strategies, (strategy) => strategy.id, (strategy, i) => card(strategy, i, item))}</ol>`}
      <div class="buttons">
        ${mayCreate ? html`<a class="button" href=${strategyAddress(toggle, item.name)}>Add strategy</a>` : nothing}
        ${sources.length > 1 ? menu('', 'menu-copy', sources.map((source) => ({ label: source.name, action: () => copyAll(source, item) })), 'Copy from')
    : sources.map((source) => html`<button type="button" @click=${() => copyAll(source, item)}>Copy from ${source.name}</button>`)}
      </div>
      ${comparison(item)}
    </section>`;
  }

  /** The differences to the other environments in numbers, and to one of them in words. */
  function comparison(item) {
    const { toggle, compared } = state;
    const others = toggle.environments.filter((other) => other !== item && (other.strategies.length > 0 || item.strategies.length > 0));
    if (others.length === 0) return nothing;
    const other = others.find(({ name: of }) => of === compared);
    return html`<section class="compared" aria-label="Compare">
      <h3>Compare</h3>
      <ul class="values">${others.map((to) => {
    const count = differences(item.strategies, to.strategies).length;
    return html`<li><a data-here href="${environmentAddress(toggle, item.name)}?${new URLSearchParams({ compare: to.name })}" aria-current=${
      to === other ? 'true' : nothing}><bdi>${to.name}</bdi>: ${count === 0 ? 'the same strategies' : counted(count, 'difference')}</a></li>`;
  })}</ul>
      ${other ? html`<ul class="strategies">${differences(item.strategies, other.strategies).map((difference) => differenceCard(difference, item, other))}</ul>` : nothing}
    </section>`;
  }

  /** @param {{here?: Object, there?: Object, changed: string[]}} difference */
  function differenceCard({ here, there, changed }, item, other) {
    const { toggle } = state;
    const words = (strategy) => html`<bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${
      strategy.variants.length > 0 ? html` <span class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></span>` : nothing}${
      strategy.disabled ? ' (disabled)' : nothing}`;
    const button = (label, of, send, message) => html`<button type="button" @click=${() => change(of, send, message)}>${label}</button>`;
    const mayReplace = may('UPDATE_FEATURE_STRATEGY') && here && there;
    return html`<li><div>
      ${here && there ? html`<ul class="values" aria-label="Different">${changed.map((property) => html`<li>${strategyLabels[property]}</li>`)}</ul>` : nothing}
      ${here ? html`<p>${there ? `In ${item.name}: ` : `Only in ${item.name}: `}${words(here)}</p>` : nothing}
      ${there ? html`<p>${here ? `In ${other.name}: ` : `Only in ${other.name}: `}${words(there)}</p>` : nothing}</div>
      <div class="row-buttons">
        ${mayReplace ? button(`Replace with that of ${other.name}`, item, () => replaceStrategy(here.id, there, toggle, item.name), `Strategy of ${item.name} replaced.`) : nothing}
        ${may('CREATE_FEATURE_STRATEGY') && !here ? button(`Copy to ${item.name}`, item, () => copyStrategy(there, toggle, item.name), `Strategy copied to ${item.name}.`) : nothing}
        ${may('CREATE_FEATURE_STRATEGY') && !there ? button(`Copy to ${other.name}`, other, () => copyStrategy(here, toggle, other.name), `Strategy copied to ${other.name}.`) : nothing}
      </div></li>`;
  }

  function card(strategy, i, item) {
    const { strategies } = item;
    const mayUpdate = may('UPDATE_FEATURE_STRATEGY');
    const position = `strategy ${i + 1} in ${item.name}`;
    const move = (step, arrow, label) => html`<button type="button" id="move-${step}-${strategy.id}" aria-label="${label} ${position}"
      aria-disabled=${strategies[i + step] ? nothing : 'true'} @click=${() => strategies[i + step] && reorder(item, i, step)}>${arrow}</button>`;
    return html`<li class=${strategy.disabled ? 'disabled' : nothing}>
      <div>
        ${strategy.title ? html`<h3><bdi>${strategy.title}</bdi></h3>` : nothing}
        <p><bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${strategy.disabled ? html` <span class="badge quiet">Disabled</span>` : nothing}</p>
        ${strategy.variants.length > 0 ? html`<p class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></p>` : nothing}
      </div>
      <div class="row-buttons">
        ${mayUpdate && strategies.length > 1 ? [move(-1, '↑', 'Move up'), move(1, '↓', 'Move down')] : nothing}
        ${mayUpdate ? html`<a class="button" href=${strategyAddress(state.toggle, item.name, strategy.id)}>Edit<span class="visually-hidden"> ${position}</span></a>` : nothing}
        ${menu(`Actions of ${position}`, `menu-${strategy.id}`, cardActions(strategy, item))}
      </div>
    </li>`;
  }

  function cardActions(strategy, item) {
    const { toggle } = state;
    return [
      ...may('UPDATE_FEATURE_STRATEGY') ? [{ label: strategy.disabled ? 'Enable' : 'Disable', action: () => setDisabled(strategy, item) }] : [],
      ...may('CREATE_FEATURE_STRATEGY') ? toggle.environments.filter((other) => other !== item).map((other) => ({
        label: `Copy to ${other.name}`, action: () => change(other, () => copyStrategy(strategy, toggle, other.name), `Strategy copied to ${other.name}.`),
      })) : [],
      ...may('DELETE_FEATURE_STRATEGY') ? [{ label: 'Delete', danger: true, action: () => remove(strategy, item) }] : [],
    ];
  }

  /** Changes the state of the toggle in an environment, and says what was done. */
  async function change(item, send, message) {
    state.busy = true;
    draw();
    try {
      await reversible(item, send, message);
    } catch (error) {
      if (signal.aborted) return;
      announce(error.message);
    }
    state.busy = false;
    changedToggles();
  }

  /** Changes the state in an environment, and says what was done, which can be undone. */
  async function reversible(item, send, message) {
    const { toggle } = state;
    const { before, after, undo } = await reversibly(toggle, item.name, send);
    const isTurnedOff = before.enabled && after?.enabled === false;
    const said = typeof message === 'function' ? message() : message;
    announce(isTurnedOff ? `${said} ${toggle.name} is off in ${item.name}.` : said, undo && (async () => {
      await undo();
      changedToggles();
      return isTurnedOff ? `Undone. ${toggle.name} is on in ${item.name}.` : 'Undone.';
    }));
  }

  async function reorder(item, i, step) {
    const ordered = [...item.strategies];
    const [moved] = ordered.splice(i, 1);
    ordered.splice(i + step, 0, moved);
    item.strategies = ordered;
    await change(item, () => orderStrategies(ordered, state.toggle, item.name), `Strategy moved ${step < 0 ? 'up' : 'down'}.`);
    document.getElementById(`move-${step}-${moved.id}`)?.focus();
  }

  async function copyAll(source, item) {
    let copied = 0;
    let failed = '';
    await change(item, async () => {
      try {
        for (const strategy of source.strategies) {
          await copyStrategy(strategy, state.toggle, item.name);
          copied += 1;
        }
      } catch (error) {
        if (copied === 0) throw error;
        failed = ` The others were not: ${error.message}`;
      }
    }, () => (failed ? `${copied} of ${source.strategies.length} strategies copied from ${source.name}.${failed}` : `Strategies copied from ${source.name}.`));
  }

  /** Disables a strategy, or enables it. It asks before it turns the toggle off in production. */
  function setDisabled(strategy, item) {
    const disabled = !strategy.disabled;
    const send = () => call('PUT', strategyPath(state.toggle, item.name, strategy.id), { disabled });
    const message = `Strategy ${disabled ? 'disabled' : 'enabled'}.`;
    if (!disabled || !isProduction(item) || !isLastEnabled(strategy, item)) return change(item, send, message);
    return askAbout(strategy, item, {
      title: ['Disable this strategy of ', text(item.name), '?'], submit: 'Disable strategy', busy: 'Working…', send: () => reversible(item, send, message),
    });
  }

  function remove(strategy, item) {
    return askAbout(strategy, item, {
      title: ['Delete this strategy of ', text(item.name), '?'], submit: 'Delete strategy', busy: 'Deleting…',
      send: () => reversible(item, () => call('DELETE', strategyPath(state.toggle, item.name, strategy.id)).catch((error) => {
        if (error.status !== 404) throw error; // it is gone already
      }), 'Strategy deleted.'),
    });
  }

  /** Asks before a strategy no longer takes part. */
  function askAbout(strategy, item, { title, submit, busy, send }) {
    const dialog = openDialog(title, () => [
      html`<p>${text(strategyWords(strategy, segmentNames(state.segments)))}</p>`,
      isLastEnabled(strategy, item) ? html`<p class="notice warn">It is the last one that is enabled: the toggle is turned off in ${item.name}.</p>` : nothing,
      form({
        submit, busy, danger: true, cancel: () => dialog.close(),
        async send() {
          await send();
          dialog.close();
          changedToggles();
        },
      }),
    ]);
  }

  function usage() {
    return state.error ? failure(state.error, loadMore) : state.usage ? state.usage.template() : loading('the usage');
  }

  function history() {
    return html`<section class="history" aria-label="History"><h2 class="visually-hidden">History</h2>
      ${state.error ? failure(state.error, loadMore) : !state.history ? loading('the history')
    : state.history.events.length === 0 ? html`<p class="empty">The event log has nothing about this toggle. It keeps events for a limited time.</p>`
      : events.template(state.history.events, { type: typeName, segment: segmentNames(state.segments) })}
      ${state.history?.next ? html`<div class="buttons"><button type="button" @click=${loadOlder}>Older events</button></div>` : nothing}
      ${may('ADMIN') ? html`<p><a href=${logAddress({ feature: name })}>All events in the event log</a></p>` : nothing}
    </section>`;
  }

  function details() {
    const { toggle } = state;
    const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;
    const toggles = (names) => html`<ul class="values">${names.map((other) => html`<li><a href=${toggleAddress({ project, name: other })}><bdi>${other}</bdi></a></li>`)}</ul>`;
    return html`<section aria-label="Details"><dl class="panel">
      ${fact('Type', html`<a href=${listAddress({ type: toggle.type })}><bdi>${state.types.find((type) => type.id === toggle.type)?.name ?? toggle.type}</bdi></a>`)}
      ${fact('Project', html`<a href=${listAddress({ project: toggle.project })}><bdi>${toggle.project}</bdi></a>`)}
      ${fact('Created', html`${time(toggle.createdAt)}${toggle.createdBy ? html` <small>by <bdi>${toggle.createdBy.name}</bdi></small>` : nothing}`)}
      ${toggle.archivedAt ? fact('Archived', time(toggle.archivedAt)) : fact('Removal', removal(toggle))}
      ${fact('Impression data', toggle.impressionData ? 'Reported' : 'Not reported')}
      ${fact('Context fields', toggle.contextFields.length === 0 ? 'None' : html`<ul class="values">${toggle.contextFields.map((used) => html`
        <li><a href="#/context?${new URLSearchParams({ query: used })}"><bdi>${used}</bdi></a></li>`)}</ul>`)}
      ${fact('Depends on', dependency())}
      ${toggle.children.length > 0 ? fact('Toggles that depend on it', toggles(toggle.children)) : nothing}
    </dl></section>`;
  }

  /** The parent of the toggle, and what can be done with it. A toggle on which others depend has none. */
  function dependency() {
    const { toggle } = state;
    const [parent] = toggle.dependencies;
    const button = (label, action) => html`<button type="button" @click=${() => action(toggle, context)}>${label}</button>`;
    const mayChange = may('UPDATE_FEATURE_DEPENDENCY') && toggle.children.length === 0 && !toggle.archived;
    return html`${parent ? html`<a href=${toggleAddress({ project, name: parent.feature })}><bdi>${parent.feature}</bdi></a>,
        <span class="detail">and is on only if <bdi>${dependencyWords(parent)}</bdi></span>` : 'No other toggle'}
      ${mayChange ? html`<div class="buttons">${button(parent ? 'Change dependency' : 'Set dependency', openDependencyEditor)}${
    parent ? button('Remove dependency', removeDependency) : nothing}</div>` : nothing}`;
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
      if (action === actions.delete && done.length > 0) window.location.hash = listAddress({ state: 'archived' });
    };
  }

  /** Shows another tab without loading the page. */
  function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    const [address, query] = link.hash.split('?');
    const parameters = new URLSearchParams(query);
    state.usage?.leave();
    state.search = parameters;
    state.tab = parameters.get('tab');
    state.compared = parameters.get('compare');
    state.environment = address.split('/')[4];
    window.history.pushState(null, '', link.hash);
    draw();
    loadMore();
  }
}

/** Reports whether a toggle is on in an environment only as long as a strategy is enabled. */
const isLastEnabled = (strategy, { enabled, strategies }) => enabled && !strategy.disabled && strategies.every(({ disabled, id }) => disabled || id === strategy.id);
