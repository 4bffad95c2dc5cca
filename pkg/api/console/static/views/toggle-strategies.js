// What can be done with the strategies of a toggle. All of it can be undone.

import { read } from '../api.js';
import { text } from '../dom.js';
import { environmentPath } from '../environment.js';
import { reversibly } from '../restore.js';
import { copyStrategy, orderOf, orderStrategies, replaceStrategy, strategyContent, strategyPath } from '../strategy.js';
import { html, nothing } from '../template.js';
import { changedToggles } from '../toggle.js';
import { makeChange } from './change-sheet.js';
import { stateItem, undoing, withStrategies } from './state-change.js';

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {() => void} draw
 */
export function strategyChanges(state, context, draw) {
  const { signal, announce } = context;
  return { reorder, copy, copyAll, replace, setDisabled, remove };

  /**
   * Changes the strategies of the toggle in an environment, and says what was done.
   * @param {Object} item the environment
   * @param {Object} options
   * @param {unknown} options.title see `Change`
   * @param {string} options.submit see `Change`
   * @param {boolean} [options.danger] see `Change`
   * @param {boolean} [options.always] see `Change`
   * @param {unknown[]} [options.content] see `Change`
   * @param {string} options.permission see `Item`
   * @param {(strategies: Object[]) => Object[]} options.edit returns the strategies after the change
   * @param {() => import('../change-request.js').AskedChange[]} options.asked see `Item`
   * @param {(write: typeof import('../api.js').call) => Promise<unknown>} options.send
   * @param {string|(() => string)} options.message
   */
  async function change(item, { permission, edit, asked, send, message, ...sheet }) {
    setBusy(true);
    try {
      const opened = await read(environmentPath(state.toggle, item.name), { signal });
      const { content: before } = opened;
      await makeChange({
        ...sheet,
        items: [stateItem(state.toggle, item, before, withStrategies(before, edit(before.strategies)), { permission, asked })],
        opened: () => setBusy(false),
        send: ({ write }) => reversible(item, opened, () => send(write), message),
      }, context);
    } catch (error) {
      if (signal.aborted) return;
      announce(error.message);
    }
    state.busy = false;
    changedToggles();
  }

  function setBusy(isBusy) {
    state.busy = isBusy;
    draw();
  }

  /** Changes the state in an environment, and says what was done, which can be undone. */
  async function reversible(item, opened, send, message) {
    const { name } = state.toggle;
    const made = await reversibly(state.toggle, item, send, opened);
    const isTurnedOff = made.before.enabled && made.after?.enabled === false;
    const said = typeof message === 'function' ? message() : message;
    announce(isTurnedOff ? `${said} ${name} is off in ${item.name}.` : said,
      undoing([made], context, () => (isTurnedOff ? `Undone. ${name} is on in ${item.name}.` : 'Undone.')));
  }

  async function reorder(item, i, step) {
    const ordered = [...item.strategies];
    const [moved] = ordered.splice(i, 1);
    ordered.splice(i + step, 0, moved);
    item.strategies = ordered;
    await change(item, {
      title: ['Change the order of the strategies of ', text(item.name), '?'],
      submit: 'Change the order',
      permission: 'UPDATE_FEATURE_STRATEGY',
      edit: (strategies) => ordered.map(({ id }) => strategies.find((strategy) => strategy.id === id)).filter(Boolean),
      asked: () => [ofToggle('reorderStrategy', orderOf(ordered))],
      send: (write) => orderStrategies(ordered, state.toggle, item.name, write),
      message: `Strategy moved ${step < 0 ? 'up' : 'down'}.`,
    });
    document.getElementById(`move-${step}-${moved.id}`)?.focus();
  }

  /** Copies a strategy to an environment. */
  function copy(strategy, item) {
    return add(item, [strategy], {
      title: ['Copy this strategy to ', text(item.name), '?'],
      submit: `Copy to ${item.name}`,
      send: (write) => copyStrategy(strategy, state.toggle, item.name, write),
      message: `Strategy copied to ${item.name}.`,
    });
  }

  /** Copies the strategies of an environment to another one. */
  function copyAll(source, item) {
    let copied = 0;
    let failed = '';
    return add(item, source.strategies, {
      title: ['Copy the strategies of ', text(source.name), ' to ', text(item.name), '?'],
      submit: `Copy from ${source.name}`,
      async send(write) {
        try {
          for (const strategy of source.strategies) {
            await copyStrategy(strategy, state.toggle, item.name, write);
            copied += 1;
          }
        } catch (error) {
          if (copied === 0) throw error;
          failed = ` The others were not: ${error.message}`;
        }
      },
      message: () => (failed ? `${copied} of ${source.strategies.length} strategies copied from ${source.name}.${failed}` : `Strategies copied from ${source.name}.`),
    });
  }

  function add(item, added, options) {
    return change(item, {
      permission: 'CREATE_FEATURE_STRATEGY',
      edit: (strategies) => [...strategies, ...added.map((strategy, i) => ({ ...strategy, id: `new ${i}` }))],
      asked: () => added.map((strategy) => ofToggle('addStrategy', strategyContent(strategy))),
      ...options,
    });
  }

  /** Makes a strategy of an environment like that of another one. */
  function replace(here, there, item, other) {
    return change(item, {
      title: ['Replace this strategy of ', text(item.name), '?'],
      submit: `Replace with that of ${other.name}`,
      permission: 'UPDATE_FEATURE_STRATEGY',
      edit: (strategies) => strategies.map((strategy) => (strategy.id === here.id ? { ...strategy, ...strategyContent(there) } : strategy)),
      asked: () => [ofToggle('updateStrategy', { id: here.id, ...strategyContent(there) })],
      send: (write) => replaceStrategy(here.id, there, state.toggle, item.name, write),
      message: `Strategy of ${item.name} replaced.`,
    });
  }

  /** Disables a strategy, or enables it. */
  function setDisabled(strategy, item) {
    const disabled = !strategy.disabled;
    return change(item, {
      title: [disabled ? 'Disable' : 'Enable', ' this strategy of ', text(item.name), '?'],
      submit: `${disabled ? 'Disable' : 'Enable'} strategy`,
      danger: disabled,
      content: disabled ? lastWarning(strategy, item) : undefined,
      permission: 'UPDATE_FEATURE_STRATEGY',
      edit: (strategies) => strategies.map((other) => (other.id === strategy.id ? { ...other, disabled } : other)),
      asked: () => [ofToggle('updateStrategy', { id: strategy.id, disabled })],
      send: (write) => write('PUT', strategyPath(state.toggle, item.name, strategy.id), { disabled }),
      message: `Strategy ${disabled ? 'disabled' : 'enabled'}.`,
    });
  }

  function remove(strategy, item) {
    return change(item, {
      title: ['Delete this strategy of ', text(item.name), '?'],
      submit: 'Delete strategy',
      danger: true,
      always: true,
      content: lastWarning(strategy, item),
      permission: 'DELETE_FEATURE_STRATEGY',
      edit: (strategies) => strategies.filter(({ id }) => id !== strategy.id),
      asked: () => [ofToggle('deleteStrategy', { id: strategy.id })],
      send: (write) => write('DELETE', strategyPath(state.toggle, item.name, strategy.id)).catch((error) => {
        if (error.status !== 404) throw error; // it is gone already
      }),
      message: 'Strategy deleted.',
    });
  }

  /** A change of the toggle in a change request. */
  function ofToggle(action, payload) {
    return { feature: state.toggle.name, action, payload };
  }
}

/** Warns about a change after which no strategy is enabled. */
function lastWarning(strategy, { name, enabled, strategies }) {
  const isLast = enabled && !strategy.disabled && strategies.every(({ disabled, id }) => disabled || id === strategy.id);
  return [isLast ? html`<p class="notice warn">It is the last one that is enabled: the toggle is turned off in ${name}.</p>` : nothing];
}
