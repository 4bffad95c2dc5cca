// Toggle types: their lifetimes, edited in place after a look at what a change does, and how many toggles they have.

import { call } from '../api.js';
import { FieldError, append, counted, field, form, h, links, loading, logLink, openDialog, replace, row, table, text } from '../dom.js';
import { countToggles, forgetCounts, listAddress, noToggles } from '../toggle.js';

const day = 86_400_000;
/** How many times in a row the number of toggles is the same when they are no longer re-evaluated, although others were expected. */
const settled = 10;

/** The lifetimes before the latest changes in this tab, and the overdue toggles then, by type, so that each can be undone. */
const changes = new Map();

export async function render(content, { may, signal, announce }) {
  const list = h('div', { class: 'types' }, loading('the toggle types'));
  append(content,
    h('p', { class: 'lead' }, 'A toggle that is older than the lifetime of its type is overdue: it can probably be removed. ' +
      'A change takes effect for all toggles of the type within seconds.'),
    list);
  const { types } = await call('GET', '/api/admin/feature-types', undefined, { signal });
  if (types.length === 0) {
    replace(list, h('p', { class: 'empty' }, 'There are no toggle types. ', h('code', null, 'toggleadmin init'), ' creates them.'));
    return;
  }
  const context = { editable: may('ADMIN'), signal, announce, load };
  const columns = ['Type', 'Lifetime', 'Toggles', 'Overdue', ...context.editable ? [{ name: 'Actions', class: 'actions' }] : []];
  const rows = types.map((type) => typeRow(columns, type, context));
  replace(list, table('Toggle types and their lifetimes', columns, rows.map(({ element }) => element)));
  await load();

  /** Shows the numbers of toggles in all rows. */
  async function load() {
    try {
      const { types: counts } = await countToggles(null, signal);
      for (const { show } of rows) show(counts);
    } catch {
      if (!signal.aborted) for (const { show } of rows) show(null);
    }
  }
}

/** Returns the number of toggles that a search selects. */
async function totalOf(parameters, signal) {
  const query = new URLSearchParams({ ...parameters, limit: 1 });
  return (await call('GET', `/api/admin/search/features?${query}`, undefined, { signal })).total;
}

/** Returns how many toggles of a type become overdue with another lifetime, and how many no longer are. */
async function effectOf(type, lifetimeDays, signal) {
  const latest = Date.now() - lifetimeDays * day; // creation of those that have outlived it
  const [now, then] = await Promise.all([
    totalOf({ type: `IS:${type.id}`, state: 'IS:potentially-stale' }, signal),
    lifetimeDays && latest > Date.UTC(1) ? totalOf({
      type: `IS:${type.id}`, state: 'IS_ANY_OF:active,potentially-stale', createdBefore: new Date(latest + 1).toISOString(),
    }, signal) : 0,
  ]);
  return { on: Math.max(0, then - now), off: Math.max(0, now - then) };
}

function typeRow(columns, type, { editable, signal, announce, load }) {
  const lifetime = h('span');
  const toggles = h('span', null, '…');
  const stale = h('span', null, '…');
  const progress = h('small', { class: 'detail', role: 'status' });
  let potentiallyStale = null; // the number, null if it is unknown
  const edit = h('button', { type: 'button', onclick: open },
    'Edit', h('span', { class: 'visually-hidden' }, ' lifetime of ', text(type.name)));
  const element = row(columns, [
    [text(type.name), ' ', h('small', { class: 'detail' }, text(type.description))],
    lifetime,
    toggles,
    [stale, ' ', progress],
    ...editable ? [[edit, links(logLink({ subject: `type:${type.id}` }, 'History', 'of toggle type ', text(type.name)))]] : [],
  ]);
  const cell = lifetime.parentElement;
  showLifetime(changes.get(type.id)?.to === type.lifetimeDays ? changes.get(type.id).from : undefined);
  return { element, show: showCounts };

  function showLifetime(previous) {
    replace(lifetime, inDays(type.lifetimeDays), previous !== undefined && [
      h('small', { class: 'was' }, ` was ${inDays(previous).toLowerCase()} `),
      h('button', { type: 'button', onclick: () => undo(previous) }, 'Undo',
        h('span', { class: 'visually-hidden' }, ' the change of the lifetime of ', text(type.name))),
    ]);
  }

  /** Shows the numbers of toggles by type, null if they are unknown. */
  function showCounts(counts) {
    const own = counts && (counts.get(type.id) ?? noToggles);
    potentiallyStale = own && own['potentially-stale'];
    if (!own) {
      for (const place of [toggles, stale]) place.textContent = 'Unknown';
      return;
    }
    const linked = (state) => h('a', { href: listAddress({ type: type.id, state }) }, own[state].toLocaleString('en'), h('span',
      { class: 'visually-hidden' }, ` ${state ? 'overdue ' : ''}${own[state] === 1 ? 'toggle' : 'toggles'} of type `, text(type.name)));
    replace(toggles, linked(''));
    replace(stale, linked('potentially-stale'));
    stale.classList.toggle('overdue', potentiallyStale > 0);
  }

  /** Counts the toggles until the service has re-evaluated them, which it does within seconds: then `expected` are overdue. */
  async function settle(expected) {
    progress.textContent = 'Re-evaluating…';
    const change = type;
    let same = 0;
    while (!signal.aborted && change === type) {
      const before = potentiallyStale;
      await load();
      same = potentiallyStale === before ? same + 1 : 0;
      if (potentiallyStale === null || same >= (potentiallyStale === expected ? 1 : settled)) break;
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
    if (change === type) progress.textContent = '';
  }

  async function set(lifetimeDays) {
    type = await call('PUT', `/api/admin/feature-types/${encodeURIComponent(type.id)}/lifetime`, { lifetimeDays });
    forgetCounts();
  }

  async function undo(previous) {
    try {
      await set(previous);
    } catch (error) {
      announce(`The change was not undone. ${error.message}`);
      return;
    }
    const { potentiallyStale: expected } = changes.get(type.id);
    changes.delete(type.id);
    showLifetime();
    edit.focus();
    announce(`Undone. ${type.name}: ${inDays(type.lifetimeDays)}.`);
    settle(expected);
  }

  function open() {
    const input = h('input', {
      name: 'lifetimeDays', inputmode: 'numeric', autocomplete: 'off', value: type.lifetimeDays ?? '', oninput: explain,
    });
    const never = h('input', { type: 'checkbox', id: `never-${type.id}`, checked: type.lifetimeDays === null, onchange: choose });
    const days = field('Days', input);
    append(days, h('div', { class: 'check' }, never, h('label', { for: never.id }, 'Never')));
    const effect = h('p', { class: 'hint' });
    const editor = form({
      class: 'inline',
      'aria-label': `Lifetime of ${type.name}`,
      submit: 'Save',
      busy: 'Counting toggles…',
      cancel: close,
      onkeydown: (event) => event.key === 'Escape' && close(),
      send,
    },
    days, effect);
    lifetime.hidden = true;
    edit.hidden = true;
    append(cell, editor);
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
      if (never.checked || input.value.trim() === '0') effect.textContent = 'Toggles of this type never become overdue.';
      else if (value > 0) effect.textContent = `Toggles of this type become overdue ${inDays(value).toLowerCase()} after their creation.`;
      else effect.textContent = 'Enter the number of days after which toggles of this type become overdue.';
    }

    async function send() {
      if (!never.checked && !/^\d+$/.test(input.value.trim())) {
        throw new FieldError('lifetimeDays', 'Enter a whole number of days, or choose “Never”.');
      }
      const lifetimeDays = never.checked ? null : Number(input.value) || null;
      if (lifetimeDays === type.lifetimeDays) close();
      else confirm(lifetimeDays, await effectOf(type, lifetimeDays, signal));
    }

    /** Says what the change does, and asks. */
    function confirm(lifetimeDays, { on, off }) {
      const says = [
        on > 0 && `${counted(on, 'toggle')} ${on === 1 ? 'becomes' : 'become'} overdue`,
        off > 0 && `${counted(off, 'toggle')} no longer ${off === 1 ? 'is' : 'are'} overdue`,
      ].filter(Boolean);
      const events = on + off === 1 ? '1 event is sent' : `${counted(on + off, 'event')} are sent`;
      const dialog = openDialog(['Change the lifetime of ', text(type.name), '?'], () => [
        h('p', { class: 'change' }, h('span', null, inDays(type.lifetimeDays)), ' → ', h('strong', null, inDays(lifetimeDays))),
        h('p', { class: 'effect' }, says.length > 0 ? `${says.join(', ')}; ${events}.` : 'No toggle changes its state, and no event about toggles is sent.'),
        form({ submit: 'Change lifetime', busy: 'Saving…', cancel: () => dialog.close(), send: save }),
      ]);
      dialog.querySelector('button').focus();

      async function save() {
        const previous = type.lifetimeDays;
        try {
          await set(lifetimeDays);
        } catch (error) {
          if (error.status !== 400) throw error;
          dialog.close();
          editor.dispatchEvent(new CustomEvent('refused', { detail: error }));
          return;
        }
        dialog.close();
        const before = potentiallyStale;
        changes.set(type.id, { from: previous, to: type.lifetimeDays, potentiallyStale: before });
        showLifetime(previous);
        close();
        announce(`Saved. ${type.name}: ${inDays(type.lifetimeDays)}.`);
        settle(before + on - off);
      }
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
  return count === null ? 'Never' : counted(count, 'day');
}
