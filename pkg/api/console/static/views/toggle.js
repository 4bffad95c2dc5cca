// The page of one toggle: what it is, what can be done with it, and its history.

import { call, read } from '../api.js';
import { append, failure, h, loading, logAddress, once, replace, text, time } from '../dom.js';
import { forgetCounts, listAddress, stateBadge, staleTime, togglePath } from '../toggle.js';
import { actions, openAction, undoNotice } from './toggle-actions.js';
import { continuesEditing, openToggleEditor } from './toggle-editor.js';

const shownEvents = 10;

export async function renderToggle(content, context) {
  const { detail, may, signal, announce, setTitle } = context;
  const [project, name] = detail.split('/');
  setTitle(name ?? detail);
  const path = togglePath({ project, name: name ?? '' });
  const [{ types }, first] = await Promise.all([
    call('GET', '/api/admin/feature-types', undefined, { signal }),
    read(path, { signal }).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    }),
  ]);
  const back = h('p', { class: 'back' }, h('a', { href: '#/toggles' }, '‹ Toggles'));
  if (!first) {
    append(content, back, h('p', { class: 'empty' }, 'There is no such toggle in this project. It may have been deleted',
      may('ADMIN') && [': ', h('a', { href: logAddress({ feature: name }) }, 'look in the event log')], '.'));
    return;
  }
  const undo = h('div');
  const card = h('div');
  const history = h('div', null, loading('the history'));
  append(content, back, undo, card, h('section', { 'aria-labelledby': 'history' },
    h('div', { class: 'title' }, h('h2', { id: 'history' }, 'History'),
      may('ADMIN') && h('a', { href: logAddress({ feature: name }) }, 'All events in the event log')), history));
  show(first);
  if (may('UPDATE_FEATURE') && continuesEditing(name)) edit();
  await showHistory();

  function show({ content: toggle }) {
    const type = types.find(({ id }) => id === toggle.type);
    const fact = (label, ...values) => h('div', null, h('dt', null, label), h('dd', null, values));
    replace(card,
      h('div', { class: 'title' }, stateBadge(toggle), h('div', { class: 'buttons' },
        may('UPDATE_FEATURE') && h('button', { type: 'button', onclick: once(edit) }, 'Edit'),
        Object.values(actions).filter((action) => may(action.permission) && action.applies(toggle)).map((action) =>
          h('button', { type: 'button', class: action.danger ? 'danger quiet' : null, onclick: () => openAction(action, [toggle], changed) },
            action.label)))),
      h('p', { class: 'description' }, toggle.description ? text(toggle.description)
        : h('span', { class: 'detail' }, 'No description. Say what the toggle is for, and when it can be removed.')),
      h('dl', { class: 'panel' },
        fact('Type', h('a', { href: listAddress({ type: toggle.type }) }, text(type?.name ?? toggle.type))),
        fact('Project', h('a', { href: listAddress({ project: toggle.project }) }, text(toggle.project))),
        fact('Created', time(toggle.createdAt), toggle.createdBy && h('small', null, ' by ', text(toggle.createdBy.name))),
        toggle.archivedAt ? fact('Archived', time(toggle.archivedAt)) : fact('Potentially stale', staleTime(toggle)),
        fact('Impression data', toggle.impressionData ? 'Reported' : 'Not reported'),
        fact('Context fields', toggle.contextFields.length === 0 ? 'None' : h('ul', { class: 'values' }, toggle.contextFields.map((used) =>
          h('li', null, h('a', { href: `#/context?${new URLSearchParams({ query: used })}` }, text(used))))))));
  }

  async function edit() {
    openToggleEditor(await read(path, { signal }), types, context, undefined, () => reload());
  }

  async function reload() {
    forgetCounts();
    try {
      show(await read(path, { signal }));
    } catch (error) {
      if (!signal.aborted) replace(card, failure(error, reload));
    }
    (undo.querySelector('button') ?? card.querySelector('button'))?.focus();
    await showHistory();
  }

  async function changed(action, done) {
    if (action === actions.delete && done.length > 0) {
      forgetCounts();
      announce(`Toggle ${name} deleted.`);
      window.location.hash = listAddress({ state: 'archived' });
      return;
    }
    replace(undo, undoNotice(action, done, changed));
    announce(`Toggle ${name} ${action.past}.`);
    await reload();
  }

  async function showHistory() {
    try {
      const { load, item } = await import('./events.js');
      const { events } = await load({ feature: name }, signal, shownEvents);
      replace(history, events.length === 0 ? h('p', { class: 'empty' }, 'The event log has nothing about this toggle. It keeps events for a limited time.')
        : h('ol', { class: 'events' }, events.map((event) => item(event, may('ADMIN')))));
    } catch (error) {
      if (!signal.aborted) replace(history, failure(error, showHistory));
    }
  }
}
