// The event log: who changed what, when, from what to what. The address has the filters, by the names of the API's parameters.

import { call } from '../api.js';
import {
  FieldError, append, failure, field, form, h, loading, logAddress, relativeTime, replace, row, table, text, uniqueId,
} from '../dom.js';
import { types } from '../event-types.js';
import { fold } from '../search.js';
import { constraintWords } from '../words.js';

const path = '/api/admin/search/events';
const pageSize = 50;
const shownElements = 12;

/** What a subject is called, by its kind, and the filter of what it did. */
const kinds = {
  toggle: { name: 'toggle' },
  type: { name: 'toggle type' },
  field: { name: 'context field' },
  account: { name: 'service account', did: 'createdBy' },
  user: { name: 'user', did: 'createdBy' },
  pat: { name: 'token', did: 'token' },
  segment: { name: 'segment' },
  environment: { name: 'environment' },
  'api-token': { name: 'API token', did: 'token' },
  'client-token': { name: 'client token' },
};

/** The filters of the form, in its order. `operator` means that the API's parameter has one. */
const names = ['query', 'type', 'from', 'to', 'createdBy', 'token', 'feature', 'project', 'environment', 'subject'];

export async function render(content, { search, signal }) {
  const filters = Object.fromEntries([...names, 'id', 'offset', 'cursor'].map((name) => [name, search.get(name)]).filter(([, value]) => value));
  const title = h('h2', { id: uniqueId() }, heading(filters, []));
  const count = h('p', { class: 'detail', role: 'status' });
  const list = h('div', null, loading('the events'));
  append(content,
    h('p', { class: 'lead' }, 'Every change of toggles, types, fields, accounts and tokens, and who made it. The address of this page ' +
      'contains the filters, so you can share it. Days and times are UTC.'),
    filterForm(filters, show),
    h('section', { 'aria-labelledby': title.id }, h('div', { class: 'title' }, title, count), list));
  let requests = 0;
  let shown = 0; // the newest request whose events the page shows
  await first();

  async function first() {
    try {
      await show(filters);
    } catch (error) {
      if (!signal.aborted && shown === 0) replace(list, failure(error, first));
    }
  }

  /** Shows the events that the filters select, or throws the API's error and leaves the page as it is. */
  async function show(selected) {
    requests += 1;
    const request = requests;
    const page = await load(selected, signal);
    if (request < shown) return; // the response to a later request came first
    shown = request;
    title.textContent = heading(selected, page.events);
    const start = Number(selected.offset ?? 0);
    const end = start + page.events.length;
    const total = (page.totalExact ? '' : 'more than ') + page.total.toLocaleString('en');
    count.textContent = page.events.length === 0 ? 'No events' : `${(start + 1).toLocaleString('en')}–${end.toLocaleString('en')} of ${total}`;
    if (page.events.length === 0 && !page.next) {
      replace(list, empty(selected, page.total));
      return;
    }
    const to = (position, label) => h('a', { href: logAddress({ ...selected, offset: undefined, cursor: undefined, ...position }) }, label);
    replace(list,
      h('ol', { class: 'events' }, page.events.map((event) => item(event, true))),
      page.searchedTo && h('p', { class: 'detail' }, `Searched back to ${page.searchedTo.replace('T', ' ').replace('Z', ' UTC')}.`),
      h('div', { class: 'months' },
        start > 0 && to({}, '« Newest events'),
        page.next && to({ offset: end, cursor: page.next }, page.searchedTo ? 'Continue the search ›' : 'Older events ›')),
    );
  }
}

/** Requests a page of events. With a cursor, `offset` is only the number of its first event. */
export function load(filters, signal, limit = pageSize) {
  const query = new URLSearchParams({ limit });
  for (const [name, value] of Object.entries(filters)) {
    if (name === 'offset' && filters.cursor) continue;
    const operator = name === 'type' && value.includes(',') ? 'IS_ANY_OF:' : 'IS:';
    query.set(name, ['query', 'offset', 'cursor'].includes(name) ? value : operator + value);
  }
  return call('GET', `${path}?${query}`, undefined, { signal });
}

/** The form of the filters. `show` shows what they select. */
function filterForm(filters, show) {
  const input = (name, props) => h('input', { name, autocomplete: 'off', spellcheck: 'false', value: filters[name] ?? '', ...props });
  const several = filters.type?.includes(',') && h('option', { value: filters.type, selected: true }, 'Several types');
  const controls = {
    query: input('query', { maxlength: '100', dir: 'auto' }),
    type: h('select', { name: 'type' }, h('option', { value: '' }, 'All types'), several,
      Object.entries(types).map(([group, labels]) => h('optgroup', { label: group },
        Object.entries(labels).map(([type, label]) => h('option', { value: type, selected: type === filters.type }, label))))),
    from: input('from', { type: 'date', value: dayOf(filters.from) }),
    to: input('to', { type: 'date', value: dayOf(filters.to) }),
    createdBy: input('createdBy'),
    token: input('token'),
    feature: input('feature'),
    project: input('project'),
    environment: input('environment'),
    subject: input('subject'),
  };
  const open = window.matchMedia('(min-width: 44rem)').matches && // otherwise the events would be below the window
    ['createdBy', 'token', 'feature', 'project', 'environment', 'subject'].some((name) => filters[name]);
  const more = h('details', { class: 'plain', open },
    h('summary', null, 'More filters'),
    h('div', { class: 'filters' },
      field('Who', controls.createdBy, 'A name or an id'),
      field('Token', controls.token, 'The id of the token used'),
      field('Toggle', controls.feature),
      field('Project', controls.project),
      field('Environment', controls.environment),
      field('Subject', controls.subject, 'type:release, pat:17')));
  const clear = h('button', { type: 'button', onclick: reset }, 'Clear filters');
  const element = form({ class: 'search', role: 'search', 'aria-label': 'Filter events', submit: 'Show events', busy: 'Searching…', send },
    h('div', { class: 'filters' },
      field('Text', controls.query), field('Type', controls.type), field('From', controls.from), field('To', controls.to)),
    more);
  append(element.querySelector('.buttons'), clear);
  return element;

  async function send() {
    const selected = Object.fromEntries(names.map((name) => [name, controls[name].value.trim()]).filter(([, value]) => value));
    more.open ||= selected.createdBy !== undefined;
    if (selected.createdBy && !/^\d+$/.test(selected.createdBy)) {
      selected.createdBy = await idOf(selected.createdBy);
      controls.createdBy.value = selected.createdBy;
    }
    await show(selected);
    window.history.pushState(null, '', logAddress(selected));
  }

  function reset() {
    for (const control of Object.values(controls)) control.value = '';
    element.requestSubmit();
  }
}

/** Returns a day that a date input can show. The browser logs a warning about others, and the API says what is wrong. */
function dayOf(value) {
  const date = new Date(value);
  return !Number.isNaN(date.valueOf()) && date.toISOString().slice(0, 10) === value ? value : '';
}

/** Returns the id of the user or service account with a name, from the newest events that it made. */
async function idOf(name) {
  const { events } = await load({ query: name.slice(0, 100) }, undefined, 1000);
  const found = events.filter((event) => event.createdByUserId !== null && fold(event.createdBy) === fold(name));
  const ids = [...new Set(found.map((event) => event.createdByUserId))].sort((a, b) => a - b);
  if (ids.length === 1) return String(ids[0]);
  if (ids.length > 1) throw new FieldError('createdBy', `Several accounts have this name. Enter one of their ids: ${ids.join(', ')}.`);
  throw new FieldError('createdBy', 'No user or service account with this name made one of the newest events. ' +
    'Enter its id, or the name as “Text”.');
}

/** What the list shows, in words. */
function heading(filters, events) {
  if (filters.id) return `Event ${filters.id}`;
  if (filters.subject) return `History of ${subjectName(filters.subject)}`;
  if (filters.feature) return `History of toggle ${filters.feature}`;
  if (filters.token) return `What was done with token ${filters.token}`;
  if (filters.createdBy) return `What ${events[0]?.createdBy ?? `user ${filters.createdBy}`} did`;
  return names.some((name) => filters[name]) ? 'Matching events' : 'All events';
}

function empty(filters, total) {
  const all = (label) => h('a', { href: logAddress({}) }, label);
  if (total > 0) return h('p', { class: 'empty' }, 'There are no older events. ', all('Show the newest events'), '.');
  if (Object.keys(filters).length === 0) {
    return h('p', { class: 'empty' }, 'Nothing was changed yet. ', h('a', { href: '#/types' }, 'Change the lifetime of a toggle type'),
      ', and the change appears here.');
  }
  return h('p', { class: 'empty' }, 'No event matches the filters. Widen the days or remove a filter, or ',
    all('show all events'), '. The log keeps events for a limited time.');
}

const parts = (subject) => {
  const at = subject.indexOf(':');
  return [subject.slice(0, at), subject.slice(at + 1)];
};

function subjectName(subject) {
  const [kind, id] = parts(subject);
  return kinds[kind] ? `${kinds[kind].name} ${id}` : subject;
}

/** An event. `linked` adds links to the event log, which an Admin can read. */
export function item(event, linked) {
  return h('li', null,
    h('div', { class: 'title' }, h('h3', null, event.label || event.type),
      linked ? h('a', { href: logAddress({ id: event.id }) }, time(event.createdAt)) : time(event.createdAt)),
    h('p', null, text(event.summary)),
    linked && h('dl', { class: 'facts' }, facts(event).map(([name, ...values]) => h('div', null, h('dt', null, name), h('dd', null, values)))),
    changes(event));
}

/** The time, relative and exactly, in UTC. */
function time(createdAt) {
  return h('time', { datetime: createdAt },
    h('span', null, relativeTime(new Date(createdAt))), h('small', null, createdAt.replace('T', ' ').replace('Z', ' UTC')));
}

/** Who made the change and what it is about, with links to other events: a name and its values for each fact. */
function facts(event) {
  const [kind, id] = parts(event.subject);
  const by = event.createdByUserId !== null ? { createdBy: event.createdByUserId }
    : event.createdByTokenId !== null ? { token: event.createdByTokenId }
      : { query: event.createdBy };
  const token = event.createdByUserId !== null && event.createdByTokenId !== null;
  const did = kinds[kind]?.did;
  const link = (filters, ...label) => h('a', { href: logAddress(filters) }, label);
  return [
    ['By', link(by, text(event.createdBy)),
      token && [' with ', link({ token: event.createdByTokenId }, 'token ', event.createdByTokenId)]],
    ['History', link(kind === 'toggle' ? { feature: id } : { subject: event.subject }, text(subjectName(event.subject)))],
    did && ['Activity', link({ [did]: id }, did === 'token' ? 'What was done with it' : 'What it did')],
    event.project && ['Project', link({ project: event.project }, text(event.project))],
    event.environment && ['Environment', link({ environment: event.environment }, text(event.environment))],
    event.data?.causedBy && ['Cause', link({ id: event.data.causedBy }, 'event ', event.data.causedBy)],
    event.type === 'feature-type-updated' && ['Effect', link({
      query: event.id, from: event.createdAt.slice(0, 10), type: 'feature-potentially-stale-on,feature-potentially-stale-off',
    }, 'Toggles whose flag it changed')],
    event.requestId && ['Request ID', h('code', null, text(event.requestId))],
  ].filter(Boolean);
}

/** The values before and after, of which only those that differ are shown at once, or the values of something new or deleted. */
function changes({ data, preData, label, createdAt }) {
  if (!data && !preData) return null;
  const names = [...new Set([...Object.keys(preData ?? {}), ...Object.keys(data ?? {})])];
  const list = (title, columns, cells, shown) => {
    const element = table(`${label}, ${createdAt}: ${title.toLowerCase()}`, columns, shown.map((name) => row(columns, [h('code', null, text(name)), ...cells(name)])));
    element.classList.add('changes', columns.length === 3 ? 'both' : 'one');
    return element;
  };
  const closed = (title, values, shown) => h('details', { class: 'plain' }, h('summary', null, title),
    list(title, ['Property', 'Value'], (name) => [value(values[name], values[name])], shown));
  if (!preData) return closed('Values', data, names);
  if (!data) return closed('Values before the deletion', preData, names);
  const changed = names.filter((name) => JSON.stringify(preData[name]) !== JSON.stringify(data[name]));
  const same = names.filter((name) => !changed.includes(name));
  return [
    changed.length > 0 && list('Before and after', ['Property', 'Before', 'After'],
      (name) => [value(preData[name], data[name], 'del'), value(data[name], preData[name], 'ins')], changed),
    same.length > 0 && closed(`${same.length} unchanged`, data, same),
  ];
}

/** A value. What `other` does not have is marked by an element of the kind `mark`. */
function value(it, other, mark) {
  const marked = (differs, content) => (differs ? h(mark, null, content) : content);
  if (!Array.isArray(it) || it.length === 0) {
    return marked(JSON.stringify(it) !== JSON.stringify(other), text(inline(it)));
  }
  const others = new Set(Array.isArray(other) ? other.map((element) => JSON.stringify(element)) : []);
  const elements = it.map((element) => ({ element, differs: !others.has(JSON.stringify(element)) }))
    .sort((a, b) => b.differs - a.differs)
    .map(({ element, differs }) => h('li', null, marked(differs, text(inline(element)))));
  if (elements.length <= shownElements) return h('ul', { class: 'values' }, elements);
  return h('div', null, h('ul', { class: 'values' }, elements.slice(0, shownElements)),
    h('details', { class: 'plain' }, h('summary', null, `${elements.length - shownElements} more`),
      h('ul', { class: 'values' }, elements.slice(shownElements))));
}

/** A JSON value in one line. */
function inline(it) {
  if (it === null || it === undefined || it === '') return 'none';
  if (Array.isArray(it)) return it.length === 0 ? 'none' : it.map(inline).join('; ');
  if (typeof it === 'boolean') return it ? 'yes' : 'no';
  if (typeof it !== 'object') return String(it);
  const members = Object.entries(it);
  if ('contextName' in it && 'operator' in it) return constraintWords(it);
  if ('value' in it) return inline(it.value) + (it.description ? ` (${it.description})` : '');
  return members.map(([name, member]) => `${name}: ${inline(member)}`).join(', ');
}
