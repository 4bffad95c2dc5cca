// What can be done with the strategies of a toggle. All of it can be undone.

import { call } from '../api.js';
import { form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { isProduction } from '../environment.js';
import { reversibly } from '../restore.js';
import { segmentNames } from '../segment.js';
import { copyStrategy, orderStrategies, strategyPath } from '../strategy.js';
import { html, nothing } from '../template.js';
import { changedToggles } from '../toggle.js';
import { strategyWords } from '../words.js';

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {() => void} draw
 */
export function strategyChanges(state, { signal, announce }, draw) {
  return { change, reorder, copyAll, setDisabled, remove };

  /** Changes the state of the toggle in an environment, and says what was done. */
  async function change(item, send, message) {
    state.busy = true;
    draw();
    try {
      await reversible(item, send, message);
    } catch (error) {
      if (signal.aborted) return;
      announce(error.message);
    }
    state.busy = false;
    changedToggles();
  }

  /** Changes the state in an environment, and says what was done, which can be undone. */
  async function reversible(item, send, message) {
    const { toggle } = state;
    const { before, after, undo } = await reversibly(toggle, item.name, send);
    const isTurnedOff = before.enabled && after?.enabled === false;
    const said = typeof message === 'function' ? message() : message;
    announce(isTurnedOff ? `${said} ${toggle.name} is off in ${item.name}.` : said, undo && (async () => {
      await undo();
      changedToggles();
      return isTurnedOff ? `Undone. ${toggle.name} is on in ${item.name}.` : 'Undone.';
    }));
  }

  async function reorder(item, i, step) {
    const ordered = [...item.strategies];
    const [moved] = ordered.splice(i, 1);
    ordered.splice(i + step, 0, moved);
    item.strategies = ordered;
    await change(item, () => orderStrategies(ordered, state.toggle, item.name), `Strategy moved ${step < 0 ? 'up' : 'down'}.`);
    document.getElementById(`move-${step}-${moved.id}`)?.focus();
  }

  async function copyAll(source, item) {
    let copied = 0;
    let failed = '';
    await change(item, async () => {
      try {
        for (const strategy of source.strategies) {
          await copyStrategy(strategy, state.toggle, item.name);
          copied += 1;
        }
      } catch (error) {
        if (copied === 0) throw error;
        failed = ` The others were not: ${error.message}`;
      }
    }, () => (failed ? `${copied} of ${source.strategies.length} strategies copied from ${source.name}.${failed}` : `Strategies copied from ${source.name}.`));
  }

  /** Disables a strategy, or enables it. It asks before it turns the toggle off in production. */
  function setDisabled(strategy, item) {
    const disabled = !strategy.disabled;
    const send = () => call('PUT', strategyPath(state.toggle, item.name, strategy.id), { disabled });
    const message = `Strategy ${disabled ? 'disabled' : 'enabled'}.`;
    if (!disabled || !isProduction(item) || !isLastEnabled(strategy, item)) return change(item, send, message);
    return askAbout(strategy, item, {
      title: ['Disable this strategy of ', text(item.name), '?'], submit: 'Disable strategy', busy: 'Working…', send: () => reversible(item, send, message),
    });
  }

  function remove(strategy, item) {
    return askAbout(strategy, item, {
      title: ['Delete this strategy of ', text(item.name), '?'], submit: 'Delete strategy', busy: 'Deleting…',
      send: () => reversible(item, () => call('DELETE', strategyPath(state.toggle, item.name, strategy.id)).catch((error) => {
        if (error.status !== 404) throw error; // it is gone already
      }), 'Strategy deleted.'),
    });
  }

  /** Asks before a strategy no longer takes part. */
  function askAbout(strategy, item, { title, submit, busy, send }) {
    const dialog = openDialog(title, () => [
      html`<p>${text(strategyWords(strategy, segmentNames(state.segments)))}</p>`,
      isLastEnabled(strategy, item) ? html`<p class="notice warn">It is the last one that is enabled: the toggle is turned off in ${item.name}.</p>` : nothing,
      form({
        submit, busy, danger: true, cancel: () => dialog.close(),
        async send() {
          await send();
          dialog.close();
          changedToggles();
        },
      }),
    ]);
  }
}

/** Reports whether a toggle is on in an environment only as long as a strategy is enabled. */
const isLastEnabled = (strategy, { enabled, strategies }) => enabled && !strategy.disabled && strategies.every(({ disabled, id }) => disabled || id === strategy.id);
