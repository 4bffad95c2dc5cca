// The selection of the list of toggles, and what can be done with toggles. The entry of the history keeps the selection and the position.

import { copyText } from '../clipboard.js';
import { counted, focusOn } from '../dom.js';
import { menu } from '../menu.js';
import { html, live, nothing } from '../template.js';
import { loadToggles } from '../toggle.js';
import { lockedItem } from '../why.js';
import { actions, needOf, openAction, switchAction } from './toggle-actions.js';

/**
 * @param {Object} state that of the list
 * @param {Object} context of the page
 * @param {() => void} draw
 */
export function toggleSelection(state, context, draw) {
  const { may, signal, announce } = context;
  const mayChange = ['UPDATE_FEATURE', 'DELETE_FEATURE', 'UPDATE_FEATURE_ENVIRONMENT'].some((permission) => may(permission));
  return { mayChange, items, copy, select, pagePicker, bulk, keep };

  /** The toggles that an action applies to, and on which the user may perform it. */
  function changeable(action, toggles) {
    return toggles.filter((toggle) => action.applies(toggle) && may(action.permission, toggle.project, action.environment));
  }

  /** The actions that the user may perform on at least one of some toggles. */
  function possible(toggles) {
    return Object.values(actions).filter((action) => changeable(action, toggles).length > 0);
  }

  /** The actions that apply to a toggle, as items of its menu. Who may perform one on other toggles sees why not on this one. */
  function items(toggle) {
    return Object.values(actions).filter((action) => action.applies(toggle) && may(action.permission)).map((action) => (
      changeable(action, [toggle]).length > 0 ? { label: action.label, danger: action.danger, action: () => act(action, [toggle]) }
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
    if (!mayChange || toggles.length === 0) return nothing;
    const button = (label, action, kind) => html`<button type="button" class=${kind ?? nothing} @click=${action}>${label}</button>`;
    const total = state.page?.total ?? 0;
    return html`<div class="bulk" role="group" aria-label="Selected toggles">
      <strong role="status">${toggles.length.toLocaleString('en')} selected</strong>
      ${state.selecting ? html`
        <span class="detail">Selecting ${state.selecting.done.toLocaleString('en')} of ${state.selecting.total.toLocaleString('en')}…</span>
        ${button('Stop', () => state.selecting.stop())}`
    : toggles.length < total ? button(`Select all ${total.toLocaleString('en')}`, selectAll) : nothing}
      ${state.filters.state !== 'archived' ? switches(toggles) : nothing}
      ${possible(toggles).map((action) => button(action.label, () => act(action, toggles), action.danger ? 'danger quiet' : undefined))}
      ${button('Copy names', () => copy(toggles))}
      ${button('Clear selection', clear)}
    </div>`;
  }

  function switches(toggles) {
    const all = state.environments.filter(({ name }) => toggles.some(({ project }) => may('UPDATE_FEATURE_ENVIRONMENT', project, name)))
      .flatMap((environment) => [true, false].map((on) => switchAction(environment, on)));
    return all.length === 0 ? nothing : menu('', 'menu-switch', all.map((action) => ({ label: action.label, action: () => act(action, toggles) })), 'Turn on or off');
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
const brief = ({ name, project, stale, archived, lastSeenAt, environments }) => ({
  name, project, stale, archived, lastSeenAt,
  environments: environments.map(({ name: environment, type, enabled, hasEnabledStrategies }) => ({ name: environment, type, enabled, hasEnabledStrategies })),
});
