// The page of one toggle: what it is, what can be done with it, and its history.

import { call, read } from '../api.js';
import { append, failure, h, loading, logAddress, once, replace, text, time } from '../dom.js';
import { latestList, listAddress, stateBadge, removal, toggleChanges, togglePath } from '../toggle.js';
import { render } from '../template.js';
import { actions, openAction } from './toggle-actions.js';
import { continuesEditing, openToggleEditor } from './toggle-editor.js';

const shownEvents = 10;

export async function renderToggle(content, context) {
  const { detail, may, signal, announce, setTitle, setActions, setPath } = context;
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
  setPath(h('a', { href: latestList.address }, 'Toggles'), h('a', { href: listAddress({ project }) }, text(project)));
  if (!first) {
    append(content, h('p', { class: 'empty' }, 'There is no such toggle in this project. It may have been deleted',
      may('ADMIN') && [': ', h('a', { href: logAddress({ feature: name }) }, 'look in the event log')], '.'));
    return;
  }
  const card = h('div');
  const history = h('div', null, loading('the history'));
  append(content, card, h('section', { 'aria-labelledby': 'history' },
    h('div', { class: 'title' }, h('h2', { id: 'history' }, 'History'),
      may('ADMIN') && h('a', { href: logAddress({ feature: name }) }, 'All events in the event log')), history));
  toggleChanges.addEventListener('change', reload, { signal });
  show(first);
  if (may('UPDATE_FEATURE') && continuesEditing(name)) edit();
  await showHistory();

  function show({ content: toggle }) {
    const type = types.find(({ id }) => id === toggle.type);
    const fact = (label, ...values) => h('div', null, h('dt', null, label), h('dd', null, values));
    const due = h('span');
    render(removal(toggle), due);
    setTitle(name, stateBadge(toggle));
    setActions(
      may('UPDATE_FEATURE') && h('button', { type: 'button', onclick: once(edit) }, 'Edit'),
      Object.values(actions).filter((action) => may(action.permission) && action.applies(toggle)).map((action) =>
        h('button', {
          type: 'button', class: action.danger ? 'danger quiet' : null, onclick: () => openAction(action, [toggle], announce, ended(action)),
        }, action.label)));
    replace(card,
      h('p', { class: 'description' }, toggle.description ? text(toggle.description)
        : h('span', { class: 'detail' }, 'No description. Say what the toggle is for, and when it can be removed.')),
      h('dl', { class: 'panel' },
        fact('Type', h('a', { href: listAddress({ type: toggle.type }) }, text(type?.name ?? toggle.type))),
        fact('Project', h('a', { href: listAddress({ project: toggle.project }) }, text(toggle.project))),
        fact('Created', time(toggle.createdAt), toggle.createdBy && h('small', null, ' by ', text(toggle.createdBy.name))),
        toggle.archivedAt ? fact('Archived', time(toggle.archivedAt)) : fact('Removal', due),
        fact('Impression data', toggle.impressionData ? 'Reported' : 'Not reported'),
        fact('Context fields', toggle.contextFields.length === 0 ? 'None' : h('ul', { class: 'values' }, toggle.contextFields.map((used) =>
          h('li', null, h('a', { href: `#/context?${new URLSearchParams({ query: used })}` }, text(used))))))));
  }

  async function edit() {
    openToggleEditor(await read(path, { signal }), types, context);
  }

  async function reload() {
    try {
      show(await read(path, { signal }));
    } catch (error) {
      if (!signal.aborted) replace(card, failure(error, reload));
    }
    if (document.activeElement === document.body) document.querySelector('.head button')?.focus();
    await showHistory();
  }

  /** Goes to the list after the toggle was deleted. */
  function ended(action) {
    return (rest, done) => {
      if (action === actions.delete && done.length > 0) window.location.hash = listAddress({ state: 'archived' });
    };
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
