// Context fields: the list with where they are used. The address has the search, the filter and the order.

import { call } from '../api.js';
import { copyText } from '../clipboard.js';
import { fieldAddress, fieldsPath, openDeletion } from '../context-field.js';
import { counted, failure, loading, logAddress, pager, range } from '../dom.js';
import { marked, matcher } from '../search.js';
import { denseTable, sorted } from '../table.js';
import { tabs } from '../tabs.js';
import { html, live, nothing, render as show } from '../template.js';
import { listAddress } from '../toggle.js';
import { allowed } from '../why.js';

const shownValues = 3;
const pageSize = 50;
const filters = { '': 'All', unused: 'Unused' };

export async function render(content, context) {
  const { detail, may, search, signal, announce, setActions } = context;
  if (detail || search.has('create')) {
    const { renderField } = await import('./context-field-page.js');
    return renderField(content, context, detail || null);
  }
  const state = {
    fields: null,
    query: search.get('query') ?? '',
    filter: search.get('show') === 'unused' ? 'unused' : '',
    order: search.get('sort') ?? undefined, // see `denseTable`
    offset: 0,
    error: null,
  };
  setActions(allowed({ permission: 'CREATE_CONTEXT_FIELD', to: 'create context fields' }, context, 'Create context field',
    html`<a class="button primary" href="#/context?create">Create context field</a>`));
  return load();

  async function load() {
    state.error = null;
    draw();
    try {
      state.fields = await call('GET', fieldsPath, undefined, { signal });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { fields, error } = state;
    show(html`
      <p class="lead">Strategies compare a context field with values, for example “userId is 7 or 8”. A field with legal values can only be
        compared with those.</p>
      ${error ? failure(error, load) : !fields ? loading('the context fields')
    : fields.length === 0 ? html`<p class="empty">There are no context fields. ${may('CREATE_CONTEXT_FIELD')
      ? 'Create one for each property that strategies compare, such as the plan of a customer.' : 'An editor can create one.'}</p>` : found()}`, content);
  }

  function found() {
    const { fields, query, filter, offset } = state;
    const matches = matcher(query);
    const searched = fields.filter(({ name, description }) => matches(name, description));
    const of = { '': searched, unused: searched.filter(({ usedInFeatures }) => usedInFeatures === 0) };
    const all = sorted(of[filter], columns(), state.order);
    return html`
      ${tabs('Usage', Object.entries(filters).map(([name, label]) => (
    { name, label, count: of[name].length, isCurrent: name === filter, href: address({ filter: name }) })), ({ name }) => change({ filter: name }))}
      <div class="finder" role="search"><input type="search" aria-label="Search" placeholder="Search names and descriptions" autocomplete="off" spellcheck="false"
        dir="auto" .value=${live(query)} @input=${({ target: { value } }) => change({ query: value })}>
        <p class="detail count" role="status" tabindex="-1">${range(all.length, offset, pageSize, 'context field')}</p></div>
      <section class="results" aria-label="Context fields that match">${all.length === 0 ? html`
        <p class="empty">No context field matches the search and the filter.</p>` : html`${list(all.slice(offset, offset + pageSize))}
        ${pager('Pages of context fields', all.length, offset, pageSize, (to) => {
    state.offset = to;
    draw();
    content.querySelector('.count').focus();
  })}`}</section>`;
  }

  /** Shows another part of the list in the same entry of the history. */
  function change(changes) {
    Object.assign(state, changes, { offset: 0 });
    window.history.replaceState(null, '', address());
    draw();
  }

  function address(changes) {
    const { query, filter, order } = { ...state, ...changes };
    const parameters = new URLSearchParams(Object.entries({ query, show: filter, sort: order }).filter(([, value]) => value));
    return `#/context${parameters.size > 0 ? '?' : ''}${parameters}`;
  }

  function columns() {
    return [
      { name: 'Name', compare: (a, b) => a.name.localeCompare(b.name, 'en'), cell: nameOf },
      { name: 'Legal values', compare: (a, b) => a.legalValues.length - b.legalValues.length, kind: 'one-line', cell: legalValues },
      { name: 'Used in toggles', compare: (a, b) => a.usedInFeatures - b.usedInFeatures, kind: 'number', cell: usage },
      { name: 'Projects', compare: (a, b) => a.usedInProjects - b.usedInProjects, kind: 'number optional', cell: ({ usedInProjects }) => usedInProjects?.toLocaleString('en') ?? 'Unknown' },
      { name: 'Order', compare: (a, b) => a.sortOrder - b.sortOrder, kind: 'number optional', cell: ({ sortOrder }) => sortOrder },
    ];
  }

  function list(items) {
    return denseTable({
      caption: 'Context fields',
      columns: columns(),
      items,
      key: ({ name }) => name,
      order: state.order,
      sort: (order) => change({ order }),
      actions: (item) => ({
        name: item.name,
        items: [
          ...may('UPDATE_CONTEXT_FIELD') ? [{ label: 'Edit', href: fieldAddress(item.name) }] : [],
          { label: 'Copy name', action: () => copyText(item.name, 'Name copied.', announce) },
          ...may('ADMIN') ? [{ label: 'History', href: logAddress({ subject: `field:${item.name}` }) }] : [],
          ...may('DELETE_CONTEXT_FIELD') ? [{ label: 'Delete', danger: true, action: () => openDeletion(item, () => deleted(item.name)) }] : [],
        ],
      }),
    });
  }

  function nameOf({ name, description, stickiness }) {
    return html`<div class="named"><a href=${fieldAddress(name)}>${marked(name, state.query)}</a>${
      stickiness ? html` <small class="type">Stickiness</small>` : nothing}</div>
      ${description ? html`<small class="line" title=${description}>${marked(description, state.query)}</small>` : nothing}`;
  }

  async function deleted(name) {
    await load();
    announce(`Context field ${name} deleted.`);
    content.querySelector('.count')?.focus();
  }
}

/** The number of toggles that use a field, as a link to them. */
function usage({ name, usedInFeatures: count }) {
  if (!count) return count ?? 'Unknown';
  return html`<a href=${listAddress({ contextField: name })}>${count.toLocaleString('en')}<span class="visually-hidden"> ${
    count === 1 ? 'toggle uses' : 'toggles use'} <bdi>${name}</bdi></span></a>`;
}

/** The first legal values, and their number if there are more. */
function legalValues({ legalValues: all }) {
  if (all.length === 0) return html`<span class="detail">Any</span>`;
  const first = html`<bdi>${all.slice(0, shownValues).map(({ value }) => value).join(', ')}</bdi>`;
  return all.length <= shownValues ? first : html`${counted(all.length, 'value')}: ${first}, …`;
}
