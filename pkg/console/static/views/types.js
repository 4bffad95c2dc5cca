// Toggle types and their lifetimes, edited in place.

import { call } from '../api.js';
import { FieldError, field, form, h, links, loading, logLink, row, table, text } from '../dom.js';

export async function render(content, { may, signal, announce }) {
  const list = h('div', { class: 'types' }, loading('the toggle types'));
  content.append(
    h('p', { class: 'lead' }, 'A toggle that is older than the lifetime of its type is potentially stale: it can probably be removed. ' +
      'A change takes effect for all toggles of the type within seconds.'),
    list);
  const { types } = await call('GET', '/api/admin/feature-types', undefined, { signal });
  if (types.length === 0) {
    list.replaceChildren(h('p', { class: 'empty' }, 'There are no toggle types.'));
    return;
  }
  const editable = may('ADMIN');
  const columns = ['Type', 'Lifetime', ...editable ? [{ name: 'Actions', class: 'actions' }] : []];
  list.replaceChildren(table('Toggle types and their lifetimes', columns, types.map((type) => typeRow(columns, type, editable, announce))));
}

function typeRow(columns, type, editable, announce) {
  const lifetime = h('span');
  const edit = h('button', { type: 'button', onclick: open },
    'Edit', h('span', { class: 'visually-hidden' }, ' lifetime of ', text(type.name)));
  const element = row(columns, [
    [text(type.name), ' ', h('small', { class: 'detail' }, text(type.description))],
    lifetime,
    ...editable ? [[edit, links(logLink({ subject: `type:${type.id}` }, 'History', 'of toggle type ', text(type.name)))]] : [],
  ]);
  const cell = lifetime.parentElement;
  show();
  return element;

  function show() {
    lifetime.textContent = type.lifetimeDays === null ? 'Never' : inDays(type.lifetimeDays);
  }

  function open() {
    const input = h('input', {
      name: 'lifetimeDays', inputmode: 'numeric', autocomplete: 'off', value: type.lifetimeDays ?? '', oninput: explain,
    });
    const never = h('input', { type: 'checkbox', id: `never-${type.id}`, checked: type.lifetimeDays === null, onchange: choose });
    const days = field('Days', input);
    days.append(h('div', { class: 'check' }, never, h('label', { for: never.id }, 'Never')));
    const effect = h('p', { class: 'hint' });
    const editor = form({
      class: 'inline',
      'aria-label': `Lifetime of ${type.name}`,
      submit: 'Save',
      busy: 'Saving…',
      cancel: close,
      onkeydown: (event) => event.key === 'Escape' && close(),
      send,
    },
    days, effect);
    lifetime.hidden = true;
    edit.hidden = true;
    cell.append(editor);
    choose();
    (never.checked ? never : input).focus();
    if (!never.checked) input.select();

    function choose() {
      input.disabled = never.checked;
      if (!never.checked) input.focus();
      explain();
    }

    function explain() {
      const value = Number(input.value);
      if (never.checked || input.value.trim() === '0') effect.textContent = 'Toggles of this type never become potentially stale.';
      else if (value > 0) effect.textContent = `Toggles of this type become potentially stale ${inDays(value)} after their creation.`;
      else effect.textContent = 'Enter the number of days after which toggles of this type become potentially stale.';
    }

    async function send() {
      if (!never.checked && !/^\d+$/.test(input.value.trim())) {
        throw new FieldError('lifetimeDays', 'Enter a whole number of days, or choose “Never”.');
      }
      const lifetimeDays = never.checked ? null : Number(input.value);
      type = await call('PUT', `/api/admin/feature-types/${encodeURIComponent(type.id)}/lifetime`, { lifetimeDays });
      show();
      close();
      announce(`Saved. ${type.name}: ${lifetime.textContent}.`);
    }

    function close() {
      editor.remove();
      lifetime.hidden = false;
      edit.hidden = false;
      edit.focus();
    }
  }
}

function inDays(count) {
  return count === 1 ? '1 day' : `${count.toLocaleString('en')} days`;
}
