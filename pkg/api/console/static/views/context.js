// Context fields: the list with its usage, and the dialogs that create, change and delete a field.

import { call, read } from '../api.js';
import { draftFor, keepDraft, mergeForm, save } from '../draft.js';
import {
  FieldError, append, counted, failure, field, form, h, links, loading, logLink, once, openDialog, pager, range, replace, row, sortColumn, table,
  text, uniqueId,
} from '../dom.js';
import { matcher } from '../search.js';
import { listAddress, searchToggles, toggleAddress } from '../toggle.js';

const path = '/api/admin/context';
const address = (name) => `${path}/${encodeURIComponent(name)}`;
const shownValues = 3;
const searchedValues = 12; // from this number on, the dialog has a search
const shownUsers = 12;
const pageSize = 50;
const shownRows = 50;
const labels = { description: 'Description', stickiness: 'Use for stickiness', sortOrder: 'Sort order', legalValues: 'Legal values' };

export async function render(content, { may, search, signal, announce, setActions }) {
  const list = h('div', null, loading('the context fields'));
  let fields = [];
  let offset = 0;
  let sorted = null; // the order of the API
  const input = h('input', {
    type: 'search', autocomplete: 'off', spellcheck: 'false', dir: 'auto', value: search.get('query'), oninput: filterFields,
  });
  const filter = h('select', { name: 'show', onchange: filterFields }, h('option', { value: '' }, 'All fields'),
    h('option', { value: 'unused', selected: search.get('show') === 'unused' }, 'Unused'));
  const bar = h('div', { class: 'filters', role: 'search' }, field('Search', input), field('Show', filter));
  const count = h('p', { class: 'detail', role: 'status', tabindex: '-1' });
  const create = may('CREATE_CONTEXT_FIELD') &&
    h('button', { type: 'button', class: 'primary', onclick: () => openEditor(null, saved) }, 'Create context field');
  setActions(create);
  append(content,
    h('p', { class: 'lead' }, 'Strategy constraints compare a context field with values, for example “userId is one of 7, 8”. ' +
      'A field with legal values can only be compared with those.'),
    bar, count, list);
  await load();
  if (draftFor('create-field') !== undefined) openEditor(null, saved);
  else if (draftFor('edit-field') !== undefined) await edit({ name: draftFor('edit-field') });

  async function load() {
    fields = await call('GET', path, undefined, { signal });
    show();
  }

  function filterFields() {
    offset = 0;
    const query = new URLSearchParams(Object.entries({ query: input.value, show: filter.value }).filter(([, value]) => value));
    window.history.replaceState(null, '', query.size > 0 ? `#/context?${query}` : '#/context');
    show();
  }

  function sorting(name) {
    const order = sorted?.by === name && sorted.order;
    return sortColumn(name, order, () => {
      sorted = { by: name, order: order > 0 ? -1 : 1 };
      offset = 0;
      show();
      list.querySelector(`[data-sort="${name}"]`).focus();
    });
  }

  function show() {
    bar.hidden = fields.length === 0;
    if (fields.length === 0) {
      count.textContent = '';
      replace(list, h('p', { class: 'empty' }, 'There are no context fields. ', create
        ? 'Create one for each property that strategies compare, such as the plan of a customer.' : 'An editor can create one.'));
      return;
    }
    const matches = matcher(input.value);
    const found = fields.filter(({ name, description, usedInFeatures }) =>
      matches(name, description) && (filter.value === '' || usedInFeatures === 0));
    if (sorted) found.sort((a, b) => sorted.order * sorts[sorted.by](a, b));
    if (offset >= found.length) offset = 0;
    count.textContent = range(found.length, offset, pageSize, 'context field');
    if (found.length === 0) {
      replace(list, h('p', { class: 'empty' }, 'No context field matches the search and the filter.'));
      return;
    }
    const editable = may('UPDATE_CONTEXT_FIELD') || may('DELETE_CONTEXT_FIELD');
    const columns = [sorting('Name'), 'Legal values', sorting('Sort order'), sorting('Used in toggles'), sorting('Used in projects'),
      ...editable ? [{ name: 'Actions', class: 'actions' }] : []];
    const element = table('Context fields', columns, found.slice(offset, offset + pageSize).map((item) => row(columns, [
      [text(item.name), item.stickiness && [' ', h('span', { class: 'badge' }, 'Stickiness')],
        item.description && h('small', { class: 'detail' }, text(item.description))],
      legalValues(item.legalValues),
      item.sortOrder,
      item.usedInFeatures > 0 ? usage(item) : item.usedInFeatures ?? 'Unknown',
      item.usedInProjects?.toLocaleString('en') ?? 'Unknown',
      ...editable ? [actions(item)] : [],
    ])));
    element.classList.add('context-fields');
    replace(list, element, pager('Pages of context fields', found.length, offset, pageSize, (to) => {
      offset = to;
      show();
      count.focus();
    }));
  }

  function actions(item) {
    const name = h('span', { class: 'visually-hidden' }, ' context field ', text(item.name));
    return [
      may('UPDATE_CONTEXT_FIELD') &&
        h('button', { type: 'button', 'data-edit': item.name, onclick: once(() => edit(item)) }, 'Edit', name.cloneNode(true)),
      may('DELETE_CONTEXT_FIELD') &&
        h('button', { type: 'button', class: 'danger quiet', onclick: once(() => openDeletion(item, deleted, signal)) }, 'Delete', name),
      may('ADMIN') && links(logLink({ subject: `field:${item.name}` }, 'History', 'of context field ', text(item.name))),
    ];
  }

  /** Opens the editor with the current content of the field: saving replaces all of it. */
  async function edit({ name }) {
    try {
      const current = await read(address(name), { signal });
      openEditor(current, saved);
    } catch (error) {
      if (signal.aborted) return;
      openDialog('The context field cannot be edited', (dialog) => [
        h('p', { class: 'error', role: 'alert' }, error.message),
        h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => dialog.close() }, 'Close')),
      ]);
    }
  }

  /** A failure to load the list again is not one of the change that came before. */
  async function reload() {
    try {
      await load();
    } catch (error) {
      if (!signal.aborted) replace(list, failure(error, reload));
    }
  }

  async function saved({ name }, created) {
    await reload();
    focusOn(name);
    announce(created ? `Context field ${name} created.` : `Context field ${name} saved.`);
  }

  async function deleted(name) {
    await reload();
    (create || list.querySelector('button'))?.focus();
    announce(`Context field ${name} deleted.`);
  }

  /** The buttons of the list are new after it was loaded again. */
  function focusOn(name) {
    const buttons = [...list.querySelectorAll('[data-edit]')];
    (buttons.find((button) => button.dataset.edit === name) ?? create)?.focus();
  }
}

/** The orders of the list by columns. Fields with the same value stay in the order of the API. */
const sorts = {
  Name: (a, b) => a.name.localeCompare(b.name, 'en'),
  'Sort order': (a, b) => a.sortOrder - b.sortOrder,
  'Used in toggles': (a, b) => a.usedInFeatures - b.usedInFeatures,
  'Used in projects': (a, b) => a.usedInProjects - b.usedInProjects,
};

/** The number of toggles that use a field, as a link to them. */
const usage = ({ name, usedInFeatures }) => h('a', { href: listAddress({ contextField: name }) }, usedInFeatures.toLocaleString('en'),
  h('span', { class: 'visually-hidden' }, usedInFeatures === 1 ? ' toggle uses ' : ' toggles use ', text(name)));

function legalValues(values) {
  if (values.length === 0) return h('span', { class: 'detail' }, 'Any');
  const items = values.map(({ value, description }) => h('li', null, h('code', null, text(value)),
    description && h('small', null, ' ', text(description))));
  if (values.length <= shownValues) return h('ul', { class: 'values' }, items);
  return h('div', null,
    h('ul', { class: 'values' }, items.slice(0, shownValues)),
    h('details', { class: 'plain' },
      h('summary', null, `${values.length.toLocaleString('en')} values`),
      h('ul', { class: 'values' }, items.slice(shownValues))));
}

/** Opens the dialog that creates a field, or replaces one. `opened` is {content, etag}, null to create one. */
function openEditor(opened, saved) {
  const current = opened?.content ?? null;
  const name = current === null && h('input', { name: 'name', autocomplete: 'off', spellcheck: 'false', required: true });
  const description = h('textarea', { name: 'description', rows: '2', dir: 'auto' });
  const sortOrder = h('input', { name: 'sortOrder', inputmode: 'numeric', autocomplete: 'off' });
  const stickiness = h('input', { name: 'stickiness', type: 'checkbox', checked: current?.stickiness });
  let describe = keep(description, current?.description ?? null, null);
  sortOrder.value = current?.sortOrder ?? '';
  stickiness.id = uniqueId();
  const values = valueEditor(current?.legalValues ?? []);
  const changes = h('div');

  const dialog = openDialog(current ? ['Edit context field ', text(current.name)] : 'Create a context field', () => [
    form({
      submit: current ? 'Save' : 'Create context field',
      busy: current ? 'Saving…' : 'Creating…',
      cancel: () => draft.leave(),
      send,
    },
    changes,
    name && field('Name', name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.'),
    field('Description', description),
    h('div', { class: 'field' },
      h('div', { class: 'check' }, stickiness, h('label', { for: stickiness.id }, 'Use for stickiness')),
      h('p', { class: 'hint' }, 'Gradual rollouts can give users with the same value of this field the same result.')),
    field('Sort order', sortOrder, 'Position in lists, the lowest first. Empty: after all other fields.'),
    values.element),
  ], undefined, () => draft.leave());
  dialog.classList.add('wide', 'long');
  const draft = keepDraft(dialog, {
    kind: current ? 'edit-field' : 'create-field',
    about: current?.name ?? null,
    title: current ? `changes of the context field ${current.name}` : 'a new context field',
    read: body,
    write: (entered) => {
      if (name) name.value = entered.name;
      description.value = entered.description ?? '';
      stickiness.checked = entered.stickiness;
      sortOrder.value = entered.sortOrder ?? '';
      values.set(entered.legalValues);
    },
  });
  (name || description).focus();

  /** Enters a value of the field that someone else has saved. */
  function enter(property, value) {
    if (property === 'description') describe = keep(description, value, null);
    else if (property === 'stickiness') stickiness.checked = value;
    else if (property === 'sortOrder') sortOrder.value = value;
    else values.set(value);
  }

  function body() {
    const order = sortOrder.value.trim();
    return {
      ...name && { name: name.value },
      description: describe(),
      stickiness: stickiness.checked,
      ...order !== '' && { sortOrder: /^[+-]?\d+$/.test(order) ? Number(order) : order }, // the API says what is wrong with other text
      legalValues: values.get(),
    };
  }

  async function send() {
    let result;
    try {
      if (current) {
        const answer = await save(address(current.name), body(), opened, labels);
        if (answer.now) {
          replace(changes, mergeForm({ before: opened.content, mine: body(), theirs: answer.now.content, labels, write: enter }));
          opened = answer.now;
          return;
        }
        ({ result } = answer);
      } else {
        result = await call('POST', path, body());
      }
    } catch (error) {
      if (error.name === 'NameExistsError') throw new FieldError('name', error.message);
      if (error.status === 400) values.show(error.message);
      throw error;
    }
    draft.done();
    await saved(result, current === null);
  }
}

/**
 * Shows a text in a control, and returns a function that reads it. Controls change some characters, such as line breaks, so a text that was
 * not edited is returned as it was.
 */
function keep(control, original, empty) {
  control.value = original ?? '';
  const shown = control.value;
  return () => {
    if (control.value === shown) return original;
    return control.value === '' ? empty : control.value;
  };
}

/** Returns the values and descriptions of a pasted text, without empty lines and the white space around each column. */
function pastedLines(text) {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => {
    const [value, ...more] = line.split('\t').map((column) => column.replace(/^[\s\u0085]+|[\s\u0085]+$/g, ''));
    const description = more.filter(Boolean).join(' ') || undefined;
    if (value === '' && description !== undefined) throw new FieldError('values', `Line ${i + 1} has a description and no value.`);
    return value === '' ? [] : [{ value, description }];
  });
}

/** The rows of the legal values, which can be added, pasted, searched, removed and moved. Of many, only some are shown. */
function valueEditor(initial) {
  let rows = [];
  let limit = shownRows;
  const list = h('ol', { class: 'value-rows' });
  const none = h('p', { class: 'detail' }, 'None: the field can have any value.');
  const state = h('p', { class: 'visually-hidden', role: 'status' });
  const add = h('button', { type: 'button', id: uniqueId(), name: 'legalValues', onclick: appendEmpty }, 'Add legal value');
  const several = h('button', { type: 'button', onclick: openPaste }, 'Add several');
  const input = h('input', {
    type: 'search', 'aria-label': 'Search legal values', placeholder: 'Search legal values', autocomplete: 'off', dir: 'auto',
    oninput: () => { limit = shownRows; label(); },
  });
  const count = h('p', { class: 'detail', role: 'status' });
  const more = h('button', { type: 'button', onclick: () => { limit += shownRows; label(); } }, 'Show more');
  const element = h('fieldset', { class: 'field' }, h('legend', null, 'Legal values'), none, input, count, list, more,
    h('div', { class: 'buttons' }, add, several), state);
  set(initial);

  return { element, get: () => rows.map(({ get }) => get()), set, show };

  function set(values) {
    rows = [];
    replace(list);
    for (const item of values) addRow(item);
    label();
  }

  /** Shows the rows that an error of the API names. */
  function show(message) {
    const last = Math.max(-1, ...[...message.matchAll(/`\/body\/legalValues\/(\d+)/g)].map(([, i]) => Number(i)));
    if (last < 0) return;
    input.value = '';
    limit = Math.max(limit, last + 1);
    label();
  }

  /** Adds one value for each line of a text, with its description after a tab. Those that exist are skipped. */
  function openPaste() {
    const pasted = h('textarea', { name: 'values', rows: '10', spellcheck: 'false', dir: 'auto' });
    const dialog = openDialog('Add several legal values', () => [
      form({
        submit: 'Add', busy: 'Adding…', cancel: () => dialog.close(),
        send: async () => {
          const known = new Set(rows.map(({ get }) => get().value.normalize('NFC')));
          const lines = pastedLines(pasted.value);
          if (lines.length === 0) throw new FieldError('values', 'Enter at least one value.');
          const before = rows.length;
          for (const { value, description } of lines) {
            if (known.has(value.normalize('NFC'))) continue;
            known.add(value.normalize('NFC'));
            addRow({ value, description });
          }
          label();
          dialog.close();
          state.textContent = `${counted(rows.length - before, 'value')} added.`;
          element.dispatchEvent(new Event('input', { bubbles: true })); // what was entered has changed
        },
      },
      field('Values', pasted, 'One in each line, for example a column of a spreadsheet. A second column is the description. Values that the ' +
        'field has already are skipped.')),
    ]);
    pasted.focus();
  }

  function addRow({ value, description }) {
    const item = {
      value: h('input', { id: uniqueId(), autocomplete: 'off', spellcheck: 'false', dir: 'auto', class: 'value' }),
      description: h('input', { id: uniqueId(), autocomplete: 'off', dir: 'auto' }),
      up: h('button', { type: 'button', onclick: () => move(item, -1, item.up) }, h('span', { 'aria-hidden': 'true' }, '↑')),
      down: h('button', { type: 'button', onclick: () => move(item, 1, item.down) }, h('span', { 'aria-hidden': 'true' }, '↓')),
      remove: h('button', { type: 'button', class: 'danger quiet', onclick: () => remove(item) }, 'Remove'),
    };
    const [getValue, getDescription] = [keep(item.value, value ?? '', ''), keep(item.description, description, undefined)];
    item.get = () => ({ value: getValue(), description: getDescription() }); // JSON omits undefined
    item.element = h('li', null,
      h('div', { class: 'field' }, item.value), h('div', { class: 'field' }, item.description),
      h('div', { class: 'row-buttons' }, item.up, item.down, item.remove));
    rows.push(item);
    append(list, item.element);
  }

  function appendEmpty() {
    addRow({});
    rows.at(-1).added = true; // shown, wherever it is
    label();
    rows.at(-1).value.focus();
  }

  function move(item, by, button) {
    const from = rows.indexOf(item);
    const to = from + by;
    if (to < 0 || to >= rows.length) return;
    rows.splice(from, 1);
    rows.splice(to, 0, item);
    if (by < 0) rows[to + 1].element.before(item.element);
    else rows[to - 1].element.after(item.element);
    label();
    button.focus(); // moving an element takes the focus from it
    state.textContent = `Moved to position ${to + 1} of ${rows.length}.`;
  }

  function remove(item) {
    const at = rows.indexOf(item);
    rows = rows.filter((other) => other !== item);
    item.element.remove();
    label();
    (rows[Math.min(at, rows.length - 1)]?.remove ?? add).focus();
    state.textContent = `Removed. ${rows.length} left.`;
  }

  function label() {
    none.hidden = rows.length > 0;
    const matches = matcher(input.value);
    const matching = rows.filter(({ added, get }) => added || matches(get().value, get().description));
    const visible = new Set([...matching.slice(0, limit), ...matching.filter(({ added }) => added)]);
    for (const item of rows) item.element.hidden = !visible.has(item);
    input.hidden = rows.length <= searchedValues;
    count.textContent = rows.length <= searchedValues ? '' : `${visible.size.toLocaleString('en')} of ${counted(rows.length, 'value')} shown`;
    more.hidden = visible.size >= matching.length;
    rows.forEach(({ value, description, up, down, remove: removal }, i) => {
      value.name = `legalValues/${i}/value`;
      value.setAttribute('aria-label', `Value ${i + 1}`);
      value.placeholder = 'Value';
      description.name = `legalValues/${i}/description`;
      description.setAttribute('aria-label', `Description of value ${i + 1}`);
      description.placeholder = 'Description (optional)';
      up.setAttribute('aria-label', `Move value ${i + 1} up`);
      down.setAttribute('aria-label', `Move value ${i + 1} down`);
      removal.setAttribute('aria-label', `Remove value ${i + 1}`);
      setDisabled(up, i === 0);
      setDisabled(down, i === rows.length - 1);
    });
  }
}

/** Unlike the attribute `disabled`, this keeps the focus. */
function setDisabled(button, disabled) {
  if (disabled) button.setAttribute('aria-disabled', 'true');
  else button.removeAttribute('aria-disabled');
}

/** Opens the dialog that deletes a field, or says which toggles use it: then it cannot be deleted. */
async function openDeletion(item, deleted, signal) {
  const users = item.usedInFeatures === 0 ? null : await searchToggles({ contextField: item.name, sortBy: 'name', limit: shownUsers }, signal)
    .catch(() => null);
  const number = users?.total ?? item.usedInFeatures;
  const dialog = number > 0 ? openDialog([text(item.name), ' cannot be deleted'], () => [
    h('p', null, `${number === 1 ? 'One toggle uses' : `${number.toLocaleString('en')} toggles use`} this context field. ` +
      'It can be deleted when no toggle uses it.'),
    users && h('ul', { class: 'values' }, users.features.map((toggle) => h('li', null, h('a', { href: toggleAddress(toggle) }, text(toggle.name)))),
      number > users.features.length && h('li', null, `and ${(number - users.features.length).toLocaleString('en')} more`)),
    h('div', { class: 'buttons' }, h('a', { href: listAddress({ contextField: item.name }) }, 'Show them'),
      h('button', { type: 'button', class: 'primary', onclick: () => dialog.close() }, 'Close')),
  ]) : openDialog(['Delete context field ', text(item.name), '?'], () => [
    form({
      submit: 'Delete context field',
      busy: 'Deleting…',
      danger: true,
      cancel: () => dialog.close(),
      async send() {
        await call('DELETE', address(item.name));
        dialog.close();
        await deleted(item.name);
      },
    },
    h('p', null, 'The context field ', h('strong', null, text(item.name)), ' and its legal values will be deleted. This cannot be undone.')),
  ]);
}
