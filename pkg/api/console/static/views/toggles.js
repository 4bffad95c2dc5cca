// Toggles: the list, and the dialogs that create and change toggles. The address has the filters, so a view can be shared.

import { call } from '../api.js';
import { draftFor } from '../draft.js';
import { age, append, counted, failure, field, h, loading, replace, row, shortDate, table, text } from '../dom.js';
import { countToggles, counts, listAddress, noToggles, pageSize, searchToggles, stateBadge, staleTime, toggleAddress } from '../toggle.js';
import { actions, openAction, undoNotice } from './toggle-actions.js';
import { openToggleEditor } from './toggle-editor.js';

const names = ['query', 'state', 'type', 'project', 'contextField', 'sortBy', 'sortOrder', 'offset'];
const columns = [
  { name: 'Name', by: 'name' }, { name: 'Type', by: 'type' }, { name: 'Project', by: 'project' }, { name: 'Age', by: 'createdAt' },
  { name: 'State' }, { name: 'Potentially stale', by: 'potentiallyStaleAt' },
];
const cards = { '': 'All', active: 'Active', 'potentially-stale': 'Potentially stale', stale: 'Marked as stale', archived: 'Archived' };
const defaultSort = { sortBy: 'potentiallyStaleAt', sortOrder: 'asc' };

export async function render(content, context) {
  if (context.detail) {
    const { renderToggle } = await import('./toggle.js');
    return renderToggle(content, context);
  }
  const { may, search, signal, announce } = context;
  let filters = Object.fromEntries(names.map((name) => [name, search.get(name)]).filter(([, value]) => value));
  let shown = 0; // the number of the latest search: answers of earlier ones are ignored
  const selected = new Map(); // toggles by their name, including those of other pages
  const { types } = await call('GET', '/api/admin/feature-types', undefined, { signal });
  const typeNames = Object.fromEntries(types.map(({ id, name }) => [id, name]));

  const create = may('CREATE_FEATURE') &&
    h('button', { type: 'button', class: 'primary', onclick: () => openToggleEditor(null, types, context, filters.project) }, 'Create toggle');
  const states = h('ul', { class: 'cards', 'aria-label': 'States' });
  const undo = h('div');
  const count = h('p', { class: 'detail', role: 'status', tabindex: '-1' });
  const bulk = h('div', { class: 'bulk', role: 'group', 'aria-label': 'Selected toggles' });
  const list = h('div', null, loading('the toggles'));
  const inputs = filterInputs();
  content.addEventListener('click', stay);
  append(content,
    h('div', { class: 'title' },
      h('p', { class: 'lead' }, 'Toggles that are older than the lifetime of their type are potentially stale: they can probably be removed.'),
      create),
    undo, states, inputs.element,
    h('section', { class: 'results', 'aria-label': 'Toggles that match' }, h('div', { class: 'title' }, count), bulk, list));
  if (create && draftFor('create-toggle') !== undefined) openToggleEditor(null, types, context, filters.project);
  showCards({});
  await show();

  /** Shows what the filters select. */
  async function show() {
    shown += 1;
    const turn = shown;
    list.setAttribute('aria-busy', 'true');
    try {
      const page = await searchToggles({ ...defaultSort, ...filters }, signal);
      if (turn !== shown) return;
      showPage(page);
      countStates(turn, page.total); // later: it takes longer
    } catch (error) {
      if (signal.aborted || turn !== shown) return;
      count.textContent = '';
      replace(list, failure(error, show));
      showCards({});
    } finally {
      if (turn === shown) list.removeAttribute('aria-busy');
    }
  }

  function showPage({ features, total }) {
    const start = Number(filters.offset ?? 0);
    if (features.length === 0) {
      count.textContent = total > 0 ? 'No more toggles' : 'No toggles';
      replace(list, empty(total));
      showBulk([]);
      return;
    }
    const range = `${(start + 1).toLocaleString('en')}–${(start + features.length).toLocaleString('en')}`;
    count.textContent = `${range} of ${counted(total, 'toggle')}`;
    const focus = document.activeElement?.dataset?.focus;
    const here = columns.map((column) => (column.by ? { ...column, ...sorting(column.by) } : column));
    const element = table('Toggles', here, features.map((toggle) => toggleRow(here, toggle, features)));
    element.classList.add('toggles');
    const to = (offset, label) => h('a', { href: listAddress({ ...filters, offset: offset || undefined }), 'data-here': '' }, label);
    replace(list, element, h('nav', { class: 'months', 'aria-label': 'Pages of toggles' },
      start > 0 && to(Math.max(0, start - pageSize), '‹ Previous'),
      start + features.length < total && to(start + pageSize, 'Next ›')));
    showBulk(features);
    if (focus) list.querySelector(`[data-focus="${focus}"]`)?.focus();
    else if (document.activeElement === document.body && shown > 1) count.focus();
  }

  function sorting(by) {
    const current = { ...defaultSort, ...filters };
    const sorted = current.sortBy === by && current.sortOrder;
    const next = sorted === 'asc' ? 'desc' : 'asc';
    return {
      sorted: sorted && `${sorted}ending`,
      sort: (name) => h('a', {
        class: 'sort', 'data-here': '', 'data-focus': by, href: listAddress({ ...filters, sortBy: by, sortOrder: next, offset: undefined }),
      }, name, h('span', { class: 'arrow', 'aria-hidden': 'true' }, sorted === 'asc' ? '↑' : sorted === 'desc' ? '↓' : '↕')),
    };
  }

  function toggleRow(here, toggle, features) {
    const box = mayChange() && h('input', {
      type: 'checkbox', 'aria-label': `Select ${toggle.name}`, checked: selected.has(toggle.name),
      onchange: () => {
        if (box.checked) selected.set(toggle.name, toggle);
        else selected.delete(toggle.name);
        showBulk(features);
      },
    });
    return row(here, [
      h('div', { class: 'named' }, box, h('div', null, h('a', { href: toggleAddress(toggle) }, text(toggle.name)),
        toggle.description && h('small', { class: 'detail clamp' }, text(toggle.description)))),
      text(typeNames[toggle.type] ?? toggle.type),
      text(toggle.project),
      age(toggle.createdAt),
      stateBadge(toggle),
      staleTime(toggle),
    ]);
  }

  function mayChange() {
    return may('UPDATE_FEATURE') || may('DELETE_FEATURE');
  }

  /** Shows what can be done with the selected toggles. */
  function showBulk(features) {
    if (!mayChange() || (features.length === 0 && selected.size === 0)) {
      replace(bulk);
      return;
    }
    const on = features.filter(({ name }) => selected.has(name)).length;
    const all = h('input', {
      type: 'checkbox', id: 'select-all', checked: on > 0 && on === features.length,
      onchange: () => {
        for (const toggle of features) {
          if (all.checked) selected.set(toggle.name, toggle);
          else selected.delete(toggle.name);
        }
        for (const [i, box] of list.querySelectorAll('tbody input').entries()) box.checked = selected.has(features[i].name);
        showBulk(features);
        bulk.querySelector('input').focus();
      },
    });
    all.indeterminate = on > 0 && on < features.length;
    const toggles = [...selected.values()];
    bulk.classList.toggle('active', toggles.length > 0);
    replace(bulk,
      features.length > 0 && h('div', { class: 'check' }, all, h('label', { for: all.id }, 'Select all on this page')),
      toggles.length > 0 && h('strong', { role: 'status' }, `${toggles.length.toLocaleString('en')} selected`),
      toggles.length > 0 && Object.entries(actions)
        .filter(([, action]) => may(action.permission) && toggles.some(action.applies))
        .map(([, action]) => h('button', {
          type: 'button', class: action.danger ? 'danger quiet' : null, onclick: () => openAction(action, toggles.filter(action.applies), changed),
        }, action.label)),
      toggles.length > 0 && h('button', { type: 'button', onclick: () => { selected.clear(); show(); } }, 'Clear selection'),
    );
  }

  async function changed(action, done, failed) {
    selected.clear();
    for (const toggle of failed) selected.set(toggle.name, toggle);
    replace(undo, undoNotice(action, done, changed));
    announce(`${counted(done.length, 'toggle')} ${action.past}.`);
    counts.key = null;
    await show();
    (undo.querySelector('button') ?? count).focus();
  }

  /** Counts the toggles of each state. `total` is the number of those that the list selects. */
  async function countStates(turn, total) {
    const { query, type, project, contextField, state: current = '' } = filters;
    const some = { query, type, project, contextField };
    const key = JSON.stringify(some);
    if (counts.key === key) {
      showCards(counts.of);
      return;
    }
    showCards({ [current]: total });
    try {
      const of = query || contextField ? await searchStates(some, current, total) : await typeCounts(project, type);
      if (turn !== shown) return;
      counts.of = of;
      counts.key = key;
      showCards(counts.of);
    } catch {
      if (turn === shown) showCards({});
    }
  }

  async function typeCounts(project, type) {
    const { total, types: all } = await countToggles(project, signal);
    return type ? all.get(type) ?? noToggles : total;
  }

  /** Counts the toggles of each state by searches. `total` is the number of those in the current state. */
  async function searchStates(some, current, total) {
    // Active toggles are all but the others, unless the list has counted them.
    const states = ['potentially-stale', 'stale', 'archived', current === 'active' ? 'active' : ''];
    const totals = await Promise.all(states.map((state) => (state === current ? { total } : searchToggles({ ...some, state, limit: 1 }, signal))));
    const of = Object.fromEntries(states.map((state, i) => [state, totals[i].total]));
    const others = of['potentially-stale'] + of.stale;
    return { ...of, '': of[''] ?? of.active + others, active: of.active ?? of[''] - others };
  }

  function showCards(of) {
    const focus = states.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    replace(states, ...Object.entries(cards).map(([state, label]) => h('li', null, h('a', {
      'data-here': '', 'data-focus': `state-${state}`, 'aria-current': (filters.state ?? '') === state ? 'true' : null, class: state || 'all',
      href: listAddress({ ...filters, state, offset: undefined }),
    }, h('span', null, label), h('strong', null, of[state]?.toLocaleString('en') ?? '…')))));
    if (focus) states.querySelector(`[data-focus="${focus}"]`)?.focus();
  }

  /** Follows links to other views of this list without a new page. */
  function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const parameters = new URLSearchParams(link.hash.split('?')[1] ?? '');
    filters = Object.fromEntries(names.map((name) => [name, parameters.get(name)]).filter(([, value]) => value));
    window.history.pushState(null, '', listAddress(filters));
    inputs.set();
    show();
  }

  function filterInputs() {
    const controls = {
      query: h('input', { name: 'query', type: 'search', maxlength: '1000', autocomplete: 'off', spellcheck: 'false', dir: 'auto' }),
      type: h('select', { name: 'type', 'data-short': '' }, h('option', { value: '' }, 'All types'),
        types.map(({ id, name }) => h('option', { value: id }, name))),
      project: h('input', { name: 'project', autocomplete: 'off', spellcheck: 'false', placeholder: 'All projects' }),
      contextField: h('input', { name: 'contextField', autocomplete: 'off', spellcheck: 'false', placeholder: 'Any' }),
      sort: h('select', { name: 'sort' }, columns.filter(({ by }) => by).flatMap(({ name, by }) => [
        h('option', { value: `${by} asc` }, `${name}, ascending`), h('option', { value: `${by} desc` }, `${name}, descending`)])),
    };
    let timer;
    const element = h('form', {
      class: 'search', role: 'search', 'aria-label': 'Filter toggles',
      onsubmit: (event) => { event.preventDefault(); apply(); },
      onchange: apply,
      oninput: () => { clearTimeout(timer); timer = setTimeout(apply, 300); },
    },
    h('div', { class: 'filters' },
      field('Search', controls.query), field('Type', controls.type), h('div', { class: 'narrow' }, field('Sort by', controls.sort)),
      field('Project', controls.project), field('Context field', controls.contextField)));
    const set = () => {
      for (const name of ['query', 'type', 'project', 'contextField']) controls[name].value = filters[name] ?? '';
      const { sortBy, sortOrder } = { ...defaultSort, ...filters };
      controls.sort.value = `${sortBy} ${sortOrder}`;
    };
    set();
    return { element, set };

    function apply() {
      clearTimeout(timer);
      if (signal.aborted) return;
      const [sortBy, sortOrder] = controls.sort.value.split(' ');
      const entered = Object.fromEntries(['query', 'type', 'project', 'contextField'].map((name) => [name, controls[name].value.trim()]));
      const isDefault = sortBy === defaultSort.sortBy && sortOrder === defaultSort.sortOrder;
      const next = { ...entered, state: filters.state, ...!isDefault && { sortBy, sortOrder } };
      if (listAddress({ ...next }) === listAddress({ ...filters, offset: undefined })) return;
      filters = Object.fromEntries(names.map((name) => [name, next[name]]).filter(([, value]) => value));
      window.history.replaceState(null, '', listAddress(filters));
      show();
    }
  }

  function empty(total) {
    const all = (label) => h('a', { href: '#/toggles', 'data-here': '' }, label);
    if (total > 0) return h('p', { class: 'empty' }, 'There are no more toggles. ', all('Show the first ones'), '.');
    if (['query', 'state', 'type', 'project', 'contextField'].some((name) => filters[name])) {
      const good = filters.state === 'potentially-stale' && 'Nothing is overdue. ';
      return h('p', { class: 'empty' }, good, 'No toggle matches the filters. ', all('Show all toggles'), '.');
    }
    return h('p', { class: 'empty' }, 'There are no toggles yet. ',
      create ? 'Create one, or bring those of an Unleash with ' : 'An editor can create one, or bring those of an Unleash with ',
      h('code', null, 'toggleadmin import unleash'), '.');
  }
}
