// The event log: who changed what, when, from what to what. The address has the filters, by the names of the API's parameters.

import { call } from '../api.js';
import { failure, focusOn, loading, logAddress } from '../dom.js';
import { eventList, haveSegments } from '../event-list.js';
import { searchEvents } from '../event-search.js';
import { subjectWords } from '../event-words.js';
import { loadSegments, segmentNames } from '../segment.js';
import { isPlainClick } from '../tabs.js';
import { html, nothing, render as show } from '../template.js';
import { exactTime } from '../time.js';
import { toggleChanges } from '../toggle.js';
import { saveEvents } from './events-file.js';
import { filterInputs, read, selection, tidy } from './events-filters.js';
import { undoOf } from './undo.js';
import { undoTogether } from './undo-together.js';

const pageSize = 50;

export async function render(content, context) {
  const { may, search, signal, setTitle, setActions, setPath, setProject } = context;
  const state = {
    filters: read(search),
    typed: search.get('query') ?? '', // in the search
    hasDays: false, // the inputs of days are shown
    page: null, // {events, total, totalExact, next, searchedTo}
    error: null,
    busy: true,
    types: [], // of toggles
    segments: [],
    people: [], // choices of those who made changes
    isFilterOpen: false, // on narrow screens
  };
  let newest = new AbortController(); // of the newest search
  const typeName = (id) => state.types.find((type) => type.id === id)?.name ?? id;
  const list = eventList({ may, signal, undo: (event, events) => [undoOf(event, context, load), undoTogether(event, events, context, load)] }, draw);
  const inputs = filterInputs(state, { signal, typeName, filter, draw });
  content.addEventListener('click', stay);
  toggleChanges.addEventListener('change', load, { signal });
  call('GET', '/api/admin/feature-types', undefined, { signal }).then(({ types }) => {
    state.types = types;
    draw();
  }).catch(() => {}); // the events have the ids
  setActions(html`<button type="button" @click=${() => saveEvents(state.filters, context)}>Download CSV</button>`);
  inputs.set();
  draw();
  await load();

  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    state.busy = true;
    setProject(state.filters.project ?? '');
    draw();
    try {
      const page = await searchEvents(selection(state.filters), current, pageSize);
      if (current.aborted) return;
      Object.assign(state, { page, error: null, busy: false });
      inputs.nameAuthor();
    } catch (error) {
      if (current.aborted) return;
      Object.assign(state, { error, page: null, busy: false });
    }
    draw();
    if (!state.page) return;
    if (state.segments.length === 0 && haveSegments(state.page.events)) {
      state.segments = await loadSegments(signal).catch(() => []); // the events have the numbers
      draw();
    }
    await list.count(state.page.events);
  }

  function draw() {
    if (signal.aborted) return;
    const title = heading(state.filters, typeName);
    setTitle(title ?? 'Event log');
    setPath(...title ? [html`<a href=${logAddress({})}>Event log</a>`] : []);
    show(view(), content);
  }

  function view() {
    const { page, error } = state;
    return html`
      ${inputs.template()}
      <section class="results" aria-label="Events" aria-busy=${state.busy ? 'true' : nothing}>
        ${error ? failure(error, load) : !page ? loading('the events') : page.events.length === 0 && !page.next ? empty(page.total) : results(page)}
      </section>`;
  }

  function results({ events, next, searchedTo }) {
    const start = Number(state.filters.offset ?? 0);
    const to = (position, label) => html`<a data-here href=${logAddress({ ...state.filters, offset: undefined, cursor: undefined, ...position })}>${label}</a>`;
    return html`
      ${list.template(events, { type: typeName, segment: segmentNames(state.segments) })}
      ${searchedTo ? html`<p class="detail">Searched back to ${exactTime(searchedTo)}.</p>` : nothing}
      <nav class="months" aria-label="Pages of events">
        ${start > 0 ? to({}, '« Newest events') : nothing}
        ${next ? to({ offset: start + events.length, cursor: next }, searchedTo ? 'Continue the search ›' : 'Older events ›') : nothing}
      </nav>`;
  }

  function empty(total) {
    const { filters } = state;
    const all = (label) => html`<a data-here href=${logAddress({})}>${label}</a>`;
    if (total > 0) return html`<p class="empty">There are no older events. ${all('Show the newest events')}.</p>`;
    if (Object.keys(filters).length === 0) {
      return html`<p class="empty">Nobody has changed anything yet. <a href="#/types">Change the lifetime of a toggle type</a>, and the change appears here.</p>`;
    }
    return html`<p class="empty">No event matches the filters. Choose other days or remove a filter, or ${all('show all events')}.
      The log keeps events for a limited time.</p>`;
  }

  /** Follows links to other views of the log without a new page. */
  async function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    state.filters = read(new URLSearchParams(link.hash.split('?')[1] ?? ''));
    window.history.pushState(null, '', logAddress(state.filters));
    state.typed = state.filters.query ?? '';
    inputs.set();
    await load();
    window.scrollTo(0, 0);
    if (document.activeElement === document.body) focusOn('.count', content, { preventScroll: true });
  }

  /** Shows other filters in the same entry of the history. */
  function filter(changes) {
    const next = tidy({ ...state.filters, ...changes, offset: undefined, cursor: undefined });
    if (signal.aborted || logAddress(next) === logAddress(state.filters)) return;
    state.filters = next;
    window.history.replaceState(null, '', logAddress(next));
    load();
  }
}

/** What the page is called when its filters name one thing, or undefined. */
function heading({ id, subject, feature, token }, typeName) {
  if (id) return `Event ${id}`;
  if (subject) return `History of ${subjectWords(subject, typeName)}`;
  if (feature) return `History of toggle ${feature}`;
  if (token) return `What was done with token ${token}`;
  return undefined;
}
