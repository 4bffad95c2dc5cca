// The page of a change request: what it changes, who has approved it, what people say about it, and what the user may do with it.

import { call } from '../api.js';
import { changeCount, changesOf, hasConflict, openRequest, removeChange, requestBadge, requestChanges, requestPath, requestsAddress, requestTitle, setState } from '../change-request.js';
import { failure, focusOn, loading, logAddress, text } from '../dom.js';
import { environmentAddress, environmentName, loadEnvironments, namedEnvironment } from '../environment.js';
import { eventList } from '../event-list.js';
import { searchEvents } from '../event-search.js';
import { menu } from '../menu.js';
import { currentFreeze, loadProtections } from '../protection.js';
import { lastHours } from '../recent-use.js';
import { changeWords, requestLines } from '../request-words.js';
import { loadSegments, segmentAddress, segmentNames } from '../segment.js';
import { lineWords } from '../state-words.js';
import { html, nothing, render as show } from '../template.js';
import { exactTime } from '../time.js';
import { toggleChanges, togglePath } from '../toggle.js';
import { requestActions } from './request-actions.js';
import { moment, requestComments } from './request-comments.js';
import { openReviewers } from './request-dialogs.js';
import { requestRights } from './request-rights.js';
import { requestTrial } from './request-trial.js';

const final = ['Applied', 'Rejected', 'Cancelled'];
const mostEvents = 200; // of a toggle on the day on which a request was applied

export async function renderRequest(content, context, { project, id }) {
  const { signal, announce, setTitle, setActions, setPath, may } = context;
  const state = {
    opened: null, // {content, etag}
    toggles: new Map(), // by their names, as they are now
    segments: [],
    environments: [],
    protections: [],
    reviewers: [], // who was asked to approve it
    events: null, // of an applied request
    use: '',
    error: null,
  };
  const events = eventList({ may, signal }, draw);
  const comments = requestComments(draw, load);
  const trial = requestTrial(state, signal, draw);
  setTitle(`Change request ${id}`);
  setPath(html`<a href="#/change-requests">Change requests</a>`, html`<a href=${requestsAddress({ project })}>${text(project)}</a>`);
  show(loading('the change request'), content);
  requestChanges.addEventListener('change', load, { signal });
  toggleChanges.addEventListener('change', load, { signal });
  await load();

  async function load() {
    try {
      const opened = await openRequest({ project, id }, signal);
      const request = opened.content;
      const names = request.features.map(({ name }) => name);
      const [environments, protections, { reviewers }, segments, ...toggles] = await Promise.all([
        loadEnvironments(signal),
        loadProtections(project, signal),
        call('GET', `${requestPath(request)}/approvers`, undefined, { signal }),
        loadSegments(signal),
        ...names.map((name) => call('GET', togglePath({ project, name }), undefined, { signal }).catch((error) => {
          if (error.status !== 404) throw error;
          return null;
        })),
      ]);
      Object.assign(state, { opened, environments, protections, reviewers, segments, error: null });
      state.toggles = new Map(toggles.filter(Boolean).map((toggle) => [toggle.name, toggle]));
    } catch (error) {
      if (signal.aborted) return;
      setActions();
      show(error.status === 404 ? html`<p class="empty">There is no such change request. <a href="#/change-requests">Show the change requests</a>.</p>`
        : failure(error, load), content);
      return;
    }
    drawHead();
    draw();
    if (document.activeElement === document.body) focusOn('.head button');
    await loadAside();
  }

  /** Loads what the page is complete without. */
  async function loadAside() {
    const { content: request } = state.opened;
    const toggles = request.features.map(({ name }) => ({ project, name }));
    try {
      if (!final.includes(request.state)) await trial.load();
      if (request.state === 'Applied') state.events = await appliedEvents(request, signal);
      state.use = final.includes(request.state) || toggles.length === 0 ? '' : await lastHours(toggles, [request.environment], signal);
    } catch {
      return;
    }
    draw();
  }

  /** The environment of the request, with its type. */
  function environment() {
    return namedEnvironment(state.environments, state.opened.content.environment);
  }

  function freeze() {
    return currentFreeze(state.protections.find((one) => one.environment === state.opened.content.environment));
  }

  function lines() {
    return requestLines(state.opened.content, changesOf(state.opened.content), state.toggles, state.segments, segmentNames(state.segments));
  }

  /** Shows the title, the state, and what the user may do. */
  function drawHead() {
    const { content: request } = state.opened;
    setTitle(requestTitle(request), requestBadge(request));
    const [first, second, ...more] = requestActions({ opened: state.opened, lines: lines(), environment: environment(), freeze: freeze() }, context);
    const button = (action, kind) => action && html`<button type="button" class=${kind} @click=${action.action}>${action.label}</button>`;
    setActions(
      button(first, first?.danger ? 'danger quiet' : 'primary'),
      button(second, second?.danger ? 'danger quiet' : ''),
      more.length > 0 && menu('', 'menu-request', more, 'More'),
      may('ADMIN') && html`<a class="button" href=${logAddress({ subject: `change-request:${id}` })}>Event log</a>`);
  }

  function draw() {
    if (signal.aborted || !state.opened) return;
    const { content: request } = state.opened;
    show(html`<div class="editor request">
      <div>
        <p class="detail"><bdi>${request.createdBy.username}</bdi> ${final.includes(request.state) ? 'asked' : 'asks'} for ${changeCount(request)} in ${environmentName(environment())} of ${text(project)}.
          ${state.use}</p>
        ${notices(request)}
        ${state.events ? appliedChanges() : changes(request)}
        ${comments(request)}
      </div>
      <aside aria-label="Approvals">${approvals(request)}${timeline(request)}${final.includes(request.state) || changesOf(request).length === 0 ? nothing : trial.template()}</aside>
    </div>`, content);
  }

  function notices(request) {
    const frozen = freeze();
    const { schedule } = request;
    return html`
      ${schedule ? html`<div class="notice ${schedule.status === 'pending' ? '' : 'warn'}"><p>${schedule.status === 'pending'
        ? `Will be applied on ${exactTime(schedule.scheduledAt)}.` : `Was to be applied on ${exactTime(schedule.scheduledAt)}.`} <span class="detail">Scheduled by
        <bdi>${schedule.scheduledBy.username}</bdi>.</span></p>${schedule.reason ? html`<p><bdi>${schedule.reason}</bdi></p>` : nothing}</div>` : nothing}
      ${frozen && !final.includes(request.state) ? html`<div class="notice warn"><p>${environmentName(environment())} is frozen until ${exactTime(frozen.until)}:
        ${text(frozen.reason)}. The request can be approved and scheduled, and applied afterwards.</p></div>` : nothing}
      ${hasConflict(request) ? html`<div class="notice error" role="alert"><p><strong>It cannot be applied any more.</strong> Something that it changes is not as it was
        when the changes were added, see below. Remove these changes, and ask for them again.</p></div>` : nothing}`;
  }

  function changes(request) {
    const all = lines();
    const mayChange = requestRights(request, context).isAuthor && !final.includes(request.state);
    const toggle = ({ name, changes: of }) => html`<li><h3><a href=${environmentAddress({ project, name }, request.environment)}>${text(name)}</a></h3>
      <ul class="strategies">${of.map((change) => item({ ...change, feature: name }, request, all, mayChange))}</ul></li>`;
    return html`<section aria-label="Changes"><h2>${final.includes(request.state) ? 'What it would change now' : 'What changes'}</h2>
      ${request.features.length + request.segments.length === 0 ? html`<p class="empty">The draft has no changes.</p>` : nothing}
      <ul class="asked">${request.features.map(toggle)}
        ${request.segments.map((change) => html`<li><h3><a href=${segmentAddress(change.payload.id)}>${text(change.name || `Segment ${change.payload.id}`)}</a></h3>
          <ul class="strategies">${item(change, request, all, mayChange)}</ul></li>`)}</ul></section>`;
  }

  function item(change, request, all, mayChange) {
    const { does, subject } = changeWords(change);
    const found = all.get(change.id);
    return html`<li><div>
        <p>${does} ${text(subject)}${change.createdBy.id === request.createdBy.id ? nothing : html` <small>by <bdi>${change.createdBy.username}</bdi></small>`}</p>
        ${found.length > 0 ? html`<ul class="sentences">${found.map((line) => html`<li>${lineWords(line)}</li>`)}</ul>` : nothing}
        ${change.conflict ? html`<p class="error"><bdi>${change.conflict}</bdi></p>` : nothing}
      </div>
      ${mayChange ? html`<div class="row-buttons"><button type="button" class="danger quiet" aria-label="Remove: ${does} ${subject}" @click=${() => remove(change.id)}>Remove</button></div>` : nothing}</li>`;
  }

  /** The events of an applied request: what was, and what is since then. */
  function appliedChanges() {
    return html`<section aria-label="Changes"><h2>What it has changed</h2>
      ${state.events.length === 0 ? html`<p class="detail">The event log does not have the events any more.</p>`
    : events.template(state.events, { segment: segmentNames(state.segments) })}</section>`;
  }

  async function remove(changeId) {
    const { content: request } = state.opened;
    try {
      const isLast = request.state !== 'Draft' && changesOf(request).length === 1; // without a change, it could not be applied
      if (isLast) await setState(state.opened, { state: 'Cancelled' });
      else await removeChange(state.opened, changeId);
      announce(isLast ? 'The request is canceled: it had no other change.' : 'Change removed.');
    } catch (error) {
      if (!signal.aborted) announce(error.status === 412 ? 'Somebody has changed the request since you opened it. Nothing was removed.' : error.message);
      await load();
    }
  }

  function approvals(request) {
    const { environments: needed = [], approvals: votes, rejections } = request;
    const counted = votes.filter(({ struckOut }) => !struckOut).length;
    const vote = ({ createdBy, createdAt, struckOut }, word) => html`<li><bdi>${createdBy.username}</bdi> ${word}, ${moment(createdAt)}${
      struckOut ? html` <span class="badge warn">May not approve any more</span>` : nothing}</li>`;
    const mayAsk = requestRights(request, context).isAuthor && request.state === 'In review';
    return html`<h2>Approvals</h2>
      ${final.includes(request.state) ? nothing : needed.length === 0 ? html`<p class="detail">None are needed.</p>`
    : needed.map((place) => html`<p>${Math.min(counted, place.requiredApprovals)} of ${place.requiredApprovals} for ${environmentName(namedEnvironment(state.environments, place.environment))} of ${text(place.project)}</p>`)}
      <ul class="sentences">${votes.map((one) => vote(one, 'approved it'))}${rejections.map((one) => vote(one, 'rejected it'))}</ul>
      ${state.reviewers.length > 0 ? html`<p class="detail">Asked: <bdi>${state.reviewers.map(({ name, username, email }) => name || username || email).join(', ')}</bdi></p>` : nothing}
      ${mayAsk ? html`<button type="button" @click=${() => openReviewers(request, context, load)}>Ask for approvals…</button>` : nothing}`;
  }

  /** When the request got its states, and by whom. */
  function timeline(request) {
    const people = peopleOf(request, state.events);
    const words = {
      Draft: 'Created', 'In review': 'Sent to review', Approved: 'Approved', Scheduled: 'Scheduled', Applied: 'Applied', Rejected: 'Rejected', Cancelled: 'Canceled',
    };
    const reached = Object.entries(request.stateTimestamps).sort(([, a], [, b]) => (a < b ? -1 : 1));
    return html`<h2>Timeline</h2><ol class="timeline">${reached.map(([of, at]) => html`<li><span>${words[of]}${people[of] ? html` by <bdi>${people[of]}</bdi>` : nothing}</span> <span class="detail">${moment(at)}</span></li>`)}</ol>`;
  }
}

/** Who has brought a request into its states, as far as it and the events of its changes say it. */
function peopleOf({ createdBy, approvals, rejections, schedule }, events) {
  const last = (votes) => votes.findLast(({ struckOut }) => !struckOut)?.createdBy.username;
  return { Draft: createdBy.username, Approved: last(approvals), Rejected: last(rejections), Scheduled: schedule?.scheduledBy.username, Applied: events?.[0]?.createdBy };
}

/** Loads the events that applying a request has caused, in their order. Their sentences do not name the request, on its own page. */
async function appliedEvents({ id, features, segments, stateTimestamps }, signal) {
  const day = stateTimestamps.Applied.slice(0, 10);
  const about = [...features.map(({ name }) => ({ feature: name })), ...segments.map(({ payload }) => ({ subject: `segment:${payload.id}` }))];
  const found = await Promise.all(about.map((filter) => searchEvents({ ...filter, from: day, to: day }, signal, mostEvents)));
  return found.flatMap(({ events }) => events).filter(({ changeRequestId, type }) => changeRequestId === id && !type.startsWith('change-request-'))
    .map((event) => ({ ...event, changeRequestId: undefined })).sort((a, b) => a.id - b.id);
}
