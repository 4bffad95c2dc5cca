// The selection of the list of toggles, and what can be done with toggles. The entry of the history keeps the selection and the position.

import { copyText } from '../clipboard.js';
import { counted, focusOn } from '../dom.js';
import { switchNeed } from '../environment.js';
import { menu } from '../menu.js';
import { html, live, nothing } from '../template.js';
import { loadToggles } from '../toggle.js';
import { labelFor, lockedItem, wayOf } from '../why.js';
import { actions, needOf, openAction, switchAction } from './toggle-actions.js';

/**
 * @param {Object} state that of the list
 * @param {Object} context of the page
 * @param {() => void} draw
 */
export function toggleSelection(state, context, draw) {
  const { may, asks, signal, announce } = context;
  const way = (action, toggle) => wayOf(needOf(action, [toggle]), context);
  return { mayChange, items, copy, select, pagePicker, bulk, keep };

  /** Reports whether the user may change toggles, or ask for changes of those that are shown. */
  function mayChange() {
    return ['UPDATE_FEATURE', 'DELETE_FEATURE', 'UPDATE_FEATURE_ENVIRONMENT'].some((permission) => may(permission))
      || state.page.features.some(({ project, environments }) => asks(environments.map((environment) => ({ project, environment }))));
  }

  /** The toggles that an action applies to, and on which the user may perform it, or ask for it. */
  function changeable(action, toggles) {
    return toggles.filter((toggle) => action.applies(toggle) && way(action, toggle) !== '');
  }

  /** The actions that the user may perform on at least one of some toggles. */
  function possible(toggles) {
    return Object.values(actions).filter((action) => changeable(action, toggles).length > 0);
  }

  /** The actions that apply to a toggle, as items of its menu. Who may perform one on other toggles sees why not on this one. */
  function items(toggle) {
    return Object.values(actions).filter((action) => action.applies(toggle) && (may(action.permission) || way(action, toggle) !== '')).map((action) => (
      way(action, toggle) !== '' ? { label: labelFor(way(action, toggle), action.label), danger: action.danger, action: () => act(action, [toggle]) }
        : lockedItem(needOf(action, [toggle]), context, action.label)));
  }

  function act(action, toggles) {
    const changing = changeable(action, toggles);
    if (changing.length === 0) {
      announce(`All selected toggles that you may change are ${action.past} already.`);
      return;
    }
    openAction(action, changing, context, (failed) => {
      state.selected = new Map(failed.map((toggle) => [toggle.name, toggle]));
      keep();
    });
  }

  function copy(toggles) {
    copyText(toggles.map(({ name }) => name).join('\n'), toggles.length === 1 ? 'Name copied.' : `${counted(toggles.length, 'name')} copied.`, announce);
  }

  function select(toggles, isSelected) {
    for (const toggle of toggles) {
      if (isSelected) state.selected.set(toggle.name, toggle);
      else state.selected.delete(toggle.name);
    }
    keep();
    draw();
  }

  /** The box that selects the toggles of the page. */
  function pagePicker(toggles) {
    const on = toggles.filter(({ name }) => state.selected.has(name)).length;
    return html`<label><input type="checkbox" .checked=${live(on === toggles.length)} .indeterminate=${on > 0 && on < toggles.length}
      @change=${({ target }) => select(toggles, target.checked)}><span>Select all on this page</span></label>`;
  }

  /** What can be done with the selected toggles. */
  function bulk() {
    const toggles = [...state.selected.values()];
    if (toggles.length === 0) return nothing;
    const button = (label, action, kind) => html`<button type="button" class=${kind ?? nothing} @click=${action}>${label}</button>`;
    const total = state.page?.total ?? 0;
    return html`<div class="bulk" role="group" aria-label="Selected toggles">
      <strong role="status">${toggles.length.toLocaleString('en')} selected</strong>
      ${state.selecting ? html`
        <span class="detail">Selecting ${state.selecting.done.toLocaleString('en')} of ${state.selecting.total.toLocaleString('en')}…</span>
        ${button('Stop', () => state.selecting.stop())}`
    : toggles.length < total ? button(`Select all ${total.toLocaleString('en')}`, selectAll) : nothing}
      ${state.filters.stage !== 'archived' ? switches(toggles) : nothing}
      ${possible(toggles).map((action) => button(action.label, () => act(action, toggles), action.danger ? 'danger quiet' : undefined))}
      ${toggles.some(mayOwn) ? button('Change owner', () => changeOwner(toggles)) : nothing}
      ${button('Copy names', () => copy(toggles))}
      ${button('Clear selection', clear)}
    </div>`;
  }

  function switches(toggles) {
    const all = state.environments.filter(({ name }) => toggles.some((toggle) => wayOf(switchNeed(toggle, { name }), context) !== ''))
      .flatMap((environment) => [true, false].map((on) => switchAction(environment, on)));
    return all.length === 0 ? nothing : menu('', 'menu-switch', all.map((action) => ({ label: action.label, action: () => act(action, toggles) })), 'Turn on or off');
  }

  function mayOwn({ project }) {
    return may('UPDATE_FEATURE', project);
  }

  async function changeOwner(toggles) {
    const { openOwner } = await import('./toggle-care.js'); // the first view does not need it
    openOwner(toggles.filter(mayOwn), context);
  }

  function clear() {
    state.selected.clear();
    keep();
    draw();
    focusOn('.pick input');
  }

  /** Selects all toggles that match the filters. */
  async function selectAll() {
    const controller = new AbortController();
    const current = AbortSignal.any([signal, controller.signal]);
    state.selecting = { done: 0, total: state.page.total, stop: () => controller.abort() };
    draw();
    try {
      await loadToggles(state.filters, state.page.total, current, (toggles) => {
        for (const toggle of toggles) state.selected.set(toggle.name, toggle);
        state.selecting.done += toggles.length;
        draw();
      });
    } catch (error) {
      controller.abort();
      if (error.name !== 'AbortError') announce(`Not all toggles were selected. ${error.message}`);
    }
    if (signal.aborted) return;
    state.selecting = null;
    keep();
    draw();
  }

  /** Keeps the selection and the position for the way back to this entry of the history. */
  function keep() {
    if (signal.aborted) return;
    window.history.replaceState({ selected: [...state.selected.values()].map(brief), scroll: window.scrollY }, '');
  }
}

/** What the actions need of a toggle. */
const brief = ({ name, project, owner, stale, archived, lastSeenAt, environments }) => ({
  name, project, owner, stale, archived, lastSeenAt,
  environments: environments.map(({ name: environment, type, enabled, hasEnabledStrategies }) => ({ name: environment, type, enabled, hasEnabledStrategies })),
});
