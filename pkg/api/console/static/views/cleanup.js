// Clean-up: toggles that may be removed, and why. The address has the filters: `#/cleanup?days=30&reason=unused&project=shop`. The page loads
// the whole list by several searches, because a toggle can have several reasons.

import { newestReport } from '../application.js';
import { copyText } from '../clipboard.js';
import { loadCodeReferences } from '../code-reference.js';
import { counted, failure, loading, pager, range } from '../dom.js';
import { learnOwners, ownerInput } from '../owner.js';
import { knownProjects } from '../project.js';
import { tabs } from '../tabs.js';
import { html, live, nothing, render as show } from '../template.js';
import { exactTime, relativeTime } from '../time.js';
import { isKept, searchToggles, toggleChanges } from '../toggle.js';
import { firstDay, removalReasons, unusedDays } from '../usage-counts.js';
import { wayOf } from '../why.js';
import { cleanupTable, grouped, groupings, keptReason, reasonNames, saveCleanup } from './cleanup-table.js';
import { actions, needOf, openAction } from './toggle-actions.js';
import { endKeeping, openKeep, openOwner } from './toggle-care.js';

const pageSize = 50;
const perSearch = 100; // toggles in one response
const most = 1000; // toggles of one search
const mostDays = 3650;
const hour = 3_600_000;

export async function render(content, context) {
  const { search, signal, announce, setActions, setProject } = context;
  const state = {
    days: daysOf(search.get('days')),
    reason: search.get('reason') ?? '', // '': all
    project: search.get('project') ?? '', // '': all
    owner: search.get('owner') ?? '', // the text of an owner; '': all
    group: search.get('group') ?? '', // of `groupings`
    projects: [],
    toggles: null, // [{toggle, reasons}], complete ones first, then those with the most reasons, then the oldest
    isComplete: true,
    code: nothingReported, // says how often code has the name of a toggle
    reportedAt: undefined, // when an application reported last; null: never
    selected: new Map(), // toggles by their name
    offset: 0,
    typed: '', // in the field of the days
    problem: '', // of the days
    busy: false,
    error: null,
  };
  state.typed = String(state.days);
  const owners = ownerInput({ user: context.user, value: state.owner, filters: true, placeholder: 'All owners', choose: (owner) => choose({ owner }) });
  let newest = new AbortController(); // of the newest load
  toggleChanges.addEventListener('change', load, { signal });
  setActions(html`<button type="button" class="optional" @click=${() => state.toggles && saveCleanup(listed(), state.days, state.code)}>Download CSV</button>`);
  knownProjects().then((projects) => {
    state.projects = projects.map(({ id }) => id);
    if (!signal.aborted) draw();
  }, () => {});
  return load();

  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    state.busy = true;
    draw();
    const since = firstDay(state.days, Date.now());
    try {
      const code = loadCodeReferences(state.project, current).catch(() => nothingReported);
      const reporting = newestReport(current).catch(() => undefined); // the list is useful without it
      const found = await Promise.all([
        { stage: 'complete' }, { stage: 'to-remove' }, { state: 'potentially-stale' }, { lastSeenAt: `IS_BEFORE:${since}` },
        { lastSeenAt: 'IS:never', createdBefore: `${since}T00:00:00.000Z` },
      ].map((reason) => searchAll({ ...reason, project: state.project, owner: state.owner }, current)));
      const all = [...new Map(found.flatMap(({ features }) => features).map((toggle) => [toggle.name, toggle])).values()];
      state.toggles = all.map((toggle) => ({ toggle, reasons: removalReasons(toggle, since) })).filter(({ reasons }) => reasons.length > 0).sort((a, b) => (
        isComplete(b) - isComplete(a) || b.reasons.length - a.reasons.length || (a.toggle.createdAt < b.toggle.createdAt ? -1 : 1)));
      const toggles = state.toggles.map(({ toggle }) => toggle);
      learnOwners(toggles);
      owners.set(state.owner);
      state.isComplete = found.every(({ isComplete }) => isComplete);
      for (const name of state.selected.keys()) if (!toggles.some((toggle) => toggle.name === name)) state.selected.delete(name);
      await context.learnAsking([...new Set(toggles.filter((toggle) => !mayArchive(toggle, context)).map(({ project }) => project))]);
      [state.reportedAt, state.code] = await Promise.all([reporting, code]);
      if (current.aborted) return;
      state.error = null;
    } catch (error) {
      if (current.aborted) return;
      state.error = error;
    }
    state.busy = false;
    draw();
  }

  /** The toggles that have a reason, and are not kept, or those that are kept. */
  function listed(reason = state.reason) {
    return state.toggles.filter(({ toggle, reasons }) => (isKept(toggle) ? reason === keptReason : reason === '' || reasons.includes(reason)));
  }

  function draw() {
    if (state.toggles && state.offset >= listed().length) state.offset = 0;
    show(html`
      <p class="lead">Toggles that are on for everybody in production, overdue, marked for removal, or that no application has used in ${counted(state.days, 'day')}.</p>
      ${silence(state.reportedAt)}
      ${reasonTabs()}
      ${filters()}
      ${state.error ? failure(state.error, load) : !state.toggles ? loading('the toggles') : list()}
      ${bulk()}`, content);
  }

  function reasonTabs() {
    return tabs('Reasons', Object.entries({ '': 'All', ...reasonNames(state.days) }).map(([reason, label]) => ({
      reason, label, count: state.toggles ? listed(reason).length : state.error ? null : undefined, isCurrent: reason === state.reason, href: addressOf({ reason }),
    })), ({ reason }) => choose({ reason }));
  }

  function filters() {
    const total = state.toggles ? listed().length : 0;
    return html`<form class="finder cleanup-filters" aria-label="Filter toggles" novalidate @submit=${apply}>
      ${total > 0 ? selectAll() : nothing}
      <label>Not used for <input name="days" inputmode="numeric" autocomplete="off" aria-label="Not used for (days)" .value=${live(state.typed)}
        aria-invalid=${state.problem ? 'true' : nothing} aria-describedby=${state.problem ? 'days-error' : nothing}
        @input=${({ target }) => { state.typed = target.value; }} @change=${apply}> days</label>
      <select name="project" aria-label="Project" @change=${({ target }) => choose({ project: target.value })}>
        ${[...new Set(['', state.project, ...state.projects])].map((name) => option(name, name || 'All projects', state.project))}
      </select>
      ${owners.element}
      <select name="group" aria-label="Group" @change=${({ target }) => choose({ group: target.value })}>
        ${Object.entries(groupings).map(([group, { label }]) => option(group, label, state.group))}</select>
      ${state.toggles ? html`<p class="detail count" role="status">${range(total, state.offset, pageSize, 'toggle')}</p>` : nothing}
      ${state.problem ? html`<p class="error" id="days-error">${state.problem}</p>` : nothing}
    </form>`;
  }

  function selectAll() {
    const all = listed().filter(({ toggle }) => mayArchive(toggle, context));
    if (all.length === 0) return nothing;
    const on = all.filter(({ toggle }) => state.selected.has(toggle.name)).length;
    return html`<label class="check"><input type="checkbox" name="all" .checked=${live(on === all.length)}
      .indeterminate=${on > 0 && on < all.length} @change=${({ target }) => select(all.map(({ toggle }) => toggle), target.checked)}>
      Select all ${all.length.toLocaleString('en')}</label>`;
  }

  function apply(event) {
    event.preventDefault();
    const days = daysOf(state.typed, null);
    state.problem = days === null ? `Enter a whole number from 1 to ${mostDays.toLocaleString('en')}.` : '';
    if (days !== null && days !== state.days) choose({ days });
    else draw();
  }

  /** Shows the list with other filters. */
  function choose(changes) {
    const needsLoad = ['days', 'project', 'owner'].some((name) => name in changes);
    Object.assign(state, changes, { offset: 0 });
    state.selected.clear();
    window.history.replaceState(window.history.state, '', addressOf({}));
    setProject(state.project);
    if (needsLoad) load();
    else draw();
  }

  function addressOf(changes) {
    const { days, reason, project, owner, group } = { ...state, ...changes };
    const values = { days: days === unusedDays ? '' : days, reason, project, owner, group };
    const query = new URLSearchParams(Object.entries(values).filter(([, value]) => value !== ''));
    return `#/cleanup${query.size > 0 ? '?' : ''}${query}`;
  }

  function list() {
    const all = grouped(listed(), state.group);
    if (all.length === 0) {
      return html`<p class="empty" role="status">There is nothing to clean up${state.reason || state.project || state.owner ? ' with these filters' : nothing}.</p>`;
    }
    return html`<section class="results" aria-label="Toggles that may be removed" aria-busy=${state.busy ? 'true' : nothing}>
      ${state.isComplete ? nothing : html`<p class="notice warn">More than ${most.toLocaleString('en')} toggles have the same reason.
        The list has the oldest ones. Choose a project to see others.</p>`}
      ${cleanupTable(all.slice(state.offset, state.offset + pageSize), { days: state.days, selected: state.selected, code: state.code, select, mayArchive: (toggle) => mayArchive(toggle, context) })}
      ${pager('Pages of toggles', all.length, state.offset, pageSize, (to) => {
    state.offset = to;
    draw();
    content.querySelector('tbody :is(input, a)').focus();
  })}
    </section>`;
  }

  function select(toggles, isSelected) {
    for (const toggle of toggles) {
      if (isSelected) state.selected.set(toggle.name, toggle);
      else state.selected.delete(toggle.name);
    }
    draw();
  }

  /** What can be done with the selected toggles. */
  function bulk() {
    if (state.selected.size === 0) return nothing;
    const mayCare = [...state.selected.values()].filter(({ project }) => context.may('UPDATE_FEATURE', project));
    return html`<div class="bulk" role="group" aria-label="Selected toggles">
      <strong role="status">${state.selected.size.toLocaleString('en')} selected</strong>
      <button type="button" class="danger quiet" @click=${archive}>Archive</button>
      ${mayCare.length === 0 ? nothing : html`
        <button type="button" @click=${() => openOwner(mayCare, context)}>Change owner</button>
        <button type="button" @click=${() => openKeep(mayCare, context)}>Keep until…</button>
        ${mayCare.some((toggle) => isKept(toggle)) ? html`<button type="button" @click=${() => endKeeping(mayCare, context)}>Do not keep</button>` : nothing}`}
      <button type="button" @click=${copyTicket}>Copy as a ticket</button>
      <button type="button" @click=${clear}>Clear selection</button>
    </div>`;
  }

  function archive() {
    openAction(actions.archive, [...state.selected.values()], context, (rest) => {
      state.selected = new Map(rest.map((toggle) => [toggle.name, toggle]));
    }, state.days);
  }

  async function copyTicket() {
    const { ticket } = await import('../ticket.js');
    copyText(await ticket([...state.selected.values()], signal), 'Ticket copied.', announce);
  }

  function clear() {
    state.selected.clear();
    draw();
    content.querySelector('[name=all]').focus();
  }
}

const option = (value, label, chosen) => html`<option value=${value} .selected=${live(value === chosen)}>${label}</option>`;

/** Reports whether the user may archive a toggle, or ask for it. */
const mayArchive = (toggle, context) => wayOf(needOf(actions.archive, [toggle]), context) !== '';

/** Returns all toggles that a search finds, the oldest first, up to a limit. */
async function searchAll(filters, signal) {
  const features = [];
  for (;;) {
    const page = await searchToggles({ ...filters, sortBy: 'createdAt', sortOrder: 'asc', limit: perSearch, offset: features.length }, signal);
    features.push(...page.features);
    if (features.length >= page.total || page.features.length === 0) return { features, isComplete: true };
    if (features.length >= most) return { features, isComplete: false };
  }
}

const nothingReported = () => undefined;

const isComplete = ({ reasons }) => Number(reasons.includes('complete'));

/** The number of days of a text. */
function daysOf(value, otherwise = unusedDays) {
  const days = /^\d{1,4}$/.test(value ?? '') ? Number(value) : 0;
  return days >= 1 && days <= mostDays ? days : otherwise;
}

/** Warns that toggles can look unused, because no application has reported since a time; null: ever; undefined: it is not known. */
function silence(at) {
  if (at === undefined || (at !== null && Date.now() - Date.parse(at) < hour)) return nothing;
  return html`<p class="notice warn">${at === null ? 'No application has reported yet.'
    : html`No application has reported in the last hour. The last report came <time datetime=${at} title=${exactTime(at)}>${relativeTime(new Date(at))}</time>.`}
    Toggles that are used can look unused. Check that reports arrive before you remove toggles.</p>`;
}
