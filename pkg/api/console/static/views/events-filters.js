// The filters of the event log: their addresses, and the controls.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { counted } from '../dom.js';
import { typeLabels } from '../event-list.js';
import { peopleTypes, searchEvents } from '../event-search.js';
import { labels, subjectWords } from '../event-words.js';
import { projectInput } from '../project.js';
import { element, html, live, nothing } from '../template.js';

const names = ['query', 'type', 'from', 'to', 'createdBy', 'token', 'feature', 'project', 'environment', 'subject', 'id', 'automatic', 'offset', 'cursor'];
const day = 86_400_000;
const periods = [['', 'Any time'], ['1', 'Today (UTC)'], ['7', 'Last 7 days'], ['30', 'Last 30 days'], ['other', 'Other days…']];

/** The filters that have a value, in the order of addresses. */
export const tidy = (filters) => Object.fromEntries(names.map((name) => [name, filters[name]]).filter(([, value]) => value));

/** The filters of an address. */
export const read = (parameters) => tidy(Object.fromEntries(parameters));

/** Reports whether filters name what the events are about: then automatic changes belong to them. */
const isOneThing = (filters) => ['type', 'feature', 'subject', 'id'].some((name) => filters[name]);

/**
 * What the API searches. With a cursor, `offset` is only the number of the first event.
 * @param {Object} filters
 */
export function selection({ automatic, offset, ...filters }) {
  return {
    ...filters, ...!filters.cursor && offset && { offset }, ...!automatic && !isOneThing(filters) && { type: peopleTypes },
  };
}

/**
 * The controls that filter the log.
 * @param {Object} state that of the page
 * @param {Object} options
 * @param {AbortSignal} options.signal
 * @param {(id: string) => string} options.typeName that of a type of toggles
 * @param {(changes: Object) => void} options.filter shows other filters
 * @param {() => void} options.draw
 */
export function filterInputs(state, { signal, typeName, filter, draw }) {
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
  const project = projectInput(state.filters.project ?? '', (value) => filter({ project: value }));
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
    if (event && !who.isEdited()) who.set(createdBy, event.createdBy);
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
        <p class="detail count" role="status" tabindex="-1">${shownRange(state)}</p>
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

  function chosenTypes() {
    return state.filters.type?.split(',') ?? [];
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

/** The part of the log that is shown. */
function shownRange({ page, filters }) {
  if (!page) return nothing;
  const { events, total, totalExact } = page;
  if (events.length === 0) return 'No events';
  const start = Number(filters.offset ?? 0);
  const end = start + events.length;
  const isKnown = totalExact || total > end + 1; // otherwise the service only knows that there is another page
  return `${(start + 1).toLocaleString('en')}–${end.toLocaleString('en')} of ${totalExact ? '' : 'more than '}${counted(isKnown ? total : end, 'event')}`;
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
