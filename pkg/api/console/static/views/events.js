// The event log: who changed what, when, from what to what. The address has the filters, by the names of the API's parameters.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { csv } from '../csv.js';
import { counted, failure, focusOn, loading, logAddress } from '../dom.js';
import { downloadFile } from '../download.js';
import { eventList, haveSegments, typeLabels } from '../event-list.js';
import { peopleTypes, searchEvents } from '../event-search.js';
import { labels, subjectWords } from '../event-words.js';
import { loadSegments, segmentNames } from '../segment.js';
import { isPlainClick } from '../tabs.js';
import { element, html, live, nothing, render as show } from '../template.js';
import { exactTime } from '../time.js';
import { projectInput, toggleChanges } from '../toggle.js';
import { undoOf } from './undo.js';

const names = ['query', 'type', 'from', 'to', 'createdBy', 'token', 'feature', 'project', 'environment', 'subject', 'id', 'automatic', 'offset', 'cursor'];
const pageSize = 50;
const exported = 10_000; // events in a file, at most
const day = 86_400_000;
const periods = [['', 'Any time'], ['1', 'Today (UTC)'], ['7', 'Last 7 days'], ['30', 'Last 30 days'], ['other', 'Other days…']];

export async function render(content, context) {
  const { may, search, signal, announce, setTitle, setActions, setPath } = context;
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
  const list = eventList({ may, signal, undo: (event) => undoOf(event, context, load) }, draw);
  const inputs = filterInputs();
  content.addEventListener('click', stay);
  toggleChanges.addEventListener('change', load, { signal });
  call('GET', '/api/admin/feature-types', undefined, { signal }).then(({ types }) => {
    state.types = types;
    draw();
  }).catch(() => {}); // the events have the ids
  setActions(html`<button type="button" @click=${saveFile}>Download CSV</button>`);
  inputs.set();
  draw();
  await load();

  async function load() {
    newest.abort();
    newest = new AbortController();
    const current = AbortSignal.any([signal, newest.signal]);
    state.busy = true;
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

  function range() {
    if (!state.page) return nothing;
    const { events, total, totalExact } = state.page;
    if (events.length === 0) return 'No events';
    const start = Number(state.filters.offset ?? 0);
    const end = start + events.length;
    const isKnown = totalExact || total > end + 1; // otherwise the service only knows that there is another page
    return `${(start + 1).toLocaleString('en')}–${end.toLocaleString('en')} of ${totalExact ? '' : 'more than '}${counted(isKnown ? total : end, 'event')}`;
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

  function filterInputs() {
    const input = (name, label, placeholder) => element(html`<input name=${name} placeholder=${placeholder} aria-label=${label}>`);
    const type = combobox(input('type', 'Type', 'All types'), {
      choices: (part) => matching(Object.entries(labels).flatMap(([group, all]) => Object.entries(all).filter(([value]) => !chosenTypes().includes(value))
        .map(([value, label]) => ({ value, label, detail: group }))), part),
      choose: (value) => {
        type.set('');
        if (value) filter({ type: [...chosenTypes(), value].join(',') });
      },
    });
    let people;
    const who = combobox(input('createdBy', 'Who', 'Anyone'), {
      choices: async (part) => {
        people ??= loadPeople(signal).catch(() => { people = undefined; }); // the page has some, too
        state.people = choicesOf((await people)?.accounts ?? [], [...(await people)?.events ?? [], ...state.page?.events ?? []]);
        const found = matching(state.people, part);
        return /^\d+$/.test(part) && !found.some(({ value }) => value === part) ? [...found, { value: part, label: `User ${part}` }] : found;
      },
      choose: (value) => filter({ createdBy: value }),
    });
    const project = projectInput(state.filters.project ?? '', signal, (value) => filter({ project: value }));
    project.input.setAttribute('aria-label', 'Project');
    let timer;
    return { set, nameAuthor, template };

    /** Shows the filters. */
    function set() {
      const { createdBy = '', project: of = '', from, to } = state.filters;
      who.set(createdBy, state.people.find(({ value }) => value === createdBy)?.label ?? (createdBy && `User ${createdBy}`));
      project.set(of);
      state.hasDays = periodOf(from, to) === 'other';
    }

    /** Shows the name of the one whose events the page has. */
    function nameAuthor() {
      const { createdBy } = state.filters;
      const event = state.page.events.find(({ createdByUserId }) => String(createdByUserId) === createdBy);
      if (event) who.set(createdBy, event.createdBy);
    }

    function template() {
      const { filters, isFilterOpen, hasDays } = state;
      const used = ['type', 'createdBy', 'project', 'from', 'to'].filter((name) => filters[name]).length;
      const period = hasDays ? 'other' : periodOf(filters.from, filters.to);
      const dayInput = (name, label) => html`<label>${label} <input type="date" name=${name} .value=${live(dayOf(filters[name]))}
        @change=${({ target }) => filter({ [name]: target.value })}></label>`;
      return html`<form class="finder" role="search" aria-label="Filter events" @submit=${apply}>
        <input type="search" name="query" aria-label="Search" placeholder="Search names and values" maxlength="100" autocomplete="off"
          spellcheck="false" dir="auto" .value=${live(state.typed)} @input=${later}>
        <button type="button" class="narrow" aria-expanded=${isFilterOpen ? 'true' : 'false'} aria-controls="filters"
          @click=${() => { state.isFilterOpen = !isFilterOpen; draw(); }}>Filter${used > 0 ? ` (${used})` : nothing}</button>
        <div id="filters" class=${isFilterOpen ? 'open' : nothing}>
          ${type.element}${who.element}${project.element}
          <select name="days" aria-label="Days" @change=${choosePeriod}>${periods.map(([value, label]) => html`
            <option value=${value} .selected=${live(value === period)}>${label}</option>`)}</select>
        </div>
        <div class="chosen">
          ${hasDays ? html`${dayInput('from', 'From')}${dayInput('to', 'To')}<span class="detail">Days in UTC</span>` : nothing}
          ${chips().map(([label, remove]) => html`<span class="chip"><bdi>${label}</bdi><button type="button" aria-label="Remove the filter ${label}"
            @click=${remove}>×</button></span>`)}
          ${isOneThing(filters) ? nothing : html`<label class="check"><input type="checkbox" name="automatic" .checked=${live(Boolean(filters.automatic))}
            @change=${({ target }) => filter({ automatic: target.checked ? 'true' : undefined })}> Show automatic changes</label>`}
          <p class="detail count" role="status" tabindex="-1">${range()}</p>
        </div>
      </form>`;
    }

    /** The filters that have no control of their own, and the types, with what removes them. */
    function chips() {
      const { token, feature, environment, subject, id } = state.filters;
      const chip = (name, label) => [label, () => filter({ [name]: undefined })];
      return [
        ...chosenTypes().map((value) => [typeLabels[value] ?? value, () => filter({ type: chosenTypes().filter((other) => other !== value).join(',') })]),
        ...token ? [chip('token', `Token ${token}`)] : [],
        ...feature ? [chip('feature', `Toggle ${feature}`)] : [],
        ...subject ? [chip('subject', upper(subjectWords(subject, typeName)))] : [],
        ...environment ? [chip('environment', `Environment ${environment}`)] : [],
        ...id ? [chip('id', `Event ${id}`)] : [],
      ];
    }

    function choosePeriod({ target: { value } }) {
      state.hasDays = value === 'other';
      if (value === 'other') draw();
      else filter({ from: value ? firstDay(Number(value)) : undefined, to: undefined });
    }

    function later({ target: { value } }) {
      state.typed = value;
      clearTimeout(timer);
      timer = setTimeout(apply, 300);
    }

    function apply(event) {
      event?.preventDefault();
      clearTimeout(timer);
      filter({ query: state.typed.trim() });
    }
  }

  function chosenTypes() {
    return state.filters.type?.split(',') ?? [];
  }

  /** Downloads the events that match, as far as they fit. */
  async function saveFile() {
    const { offset, cursor, ...filters } = state.filters;
    const events = [];
    try {
      announce('Loading the events…');
      for (let next; events.length < exported;) {
        const page = await searchEvents(selection({ ...filters, cursor: next }), signal, 1000);
        events.push(...page.events);
        ({ next } = page);
        if (!next) break;
      }
    } catch (error) {
      if (!signal.aborted) announce(`The events cannot be downloaded. ${error.message}`);
      return;
    }
    const columns = ['createdAt', 'type', 'subject', 'createdBy', 'createdByUserId', 'createdByTokenId', 'createdByKind', 'project', 'environment', 'summary', 'preData', 'data', 'requestId', 'id'];
    const cell = (value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value);
    downloadFile('events.csv', csv([columns, ...events.slice(0, exported).map((event) => columns.map((name) => cell(event[name])))]));
    announce(events.length >= exported ? `events.csv has the newest ${exported.toLocaleString('en')} events.` : `events.csv was downloaded: ${counted(events.length, 'event')}.`);
  }
}

/** The filters that have a value, in the order of addresses. */
const tidy = (filters) => Object.fromEntries(names.map((name) => [name, filters[name]]).filter(([, value]) => value));

/** The filters of an address. */
const read = (parameters) => tidy(Object.fromEntries(parameters));

/** Reports whether filters name what the events are about: then automatic changes belong to them. */
const isOneThing = (filters) => ['type', 'feature', 'subject', 'id'].some((name) => filters[name]);

/** What the API searches. With a cursor, `offset` is only the number of the first event. */
function selection({ automatic, offset, ...filters }) {
  return {
    ...filters, ...!filters.cursor && offset && { offset }, ...!automatic && !isOneThing(filters) && { type: peopleTypes },
  };
}

/** What the page is called when its filters name one thing, or undefined. */
function heading({ id, subject, feature, token }, typeName) {
  if (id) return `Event ${id}`;
  if (subject) return `History of ${subjectWords(subject, typeName)}`;
  if (feature) return `History of toggle ${feature}`;
  if (token) return `What was done with token ${token}`;
  return undefined;
}

const upper = (words) => words[0].toUpperCase() + words.slice(1);

/** The first of the last days, in UTC. */
const firstDay = (count) => new Date(Date.now() - (count - 1) * day).toISOString().slice(0, 10);

/** The period that days are: a number of days until today, "" for any time, or "other". */
function periodOf(from, to) {
  if (!from && !to) return '';
  return ['1', '7', '30'].find((count) => !to && from === firstDay(Number(count))) ?? 'other';
}

/** Returns a day that a date input can show. The browser logs a warning about others, and the API says what is wrong. */
function dayOf(value) {
  const date = new Date(value);
  return !Number.isNaN(date.valueOf()) && date.toISOString().slice(0, 10) === value ? value : '';
}

/** Loads who may have made changes: service accounts, and the authors of the newest events. */
async function loadPeople(signal) {
  const [{ events }, { serviceAccounts }] = await Promise.all([
    searchEvents({ type: peopleTypes }, signal, 500),
    call('GET', '/api/admin/service-account', undefined, { signal }),
  ]);
  return { events, accounts: serviceAccounts };
}

/** The choices of those who made changes, by their names. */
function choicesOf(accounts, events) {
  const all = new Map(accounts.map(({ id, name, username }) => [String(id), { value: String(id), label: name || username, detail: 'service account' }]));
  for (const { createdByUserId, createdBy, createdByKind } of events) {
    const id = String(createdByUserId);
    if (createdByUserId !== null && !all.has(id)) all.set(id, { value: id, label: createdBy, detail: createdByKind === 'service-account' ? 'service account' : `user ${id}` });
  }
  return [...all.values()].sort((a, b) => a.label.localeCompare(b.label, 'en'));
}
