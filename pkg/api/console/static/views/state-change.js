// Changes of the state of a toggle in an environment, for the sheet, and what reverses them.

import { askedSteps, bringTo, changedSince, loadState } from '../restore.js';
import { isChangedSince, reversed } from '../reversal.js';
import { loadSegments, segmentNames } from '../segment.js';
import { stateLines } from '../state-words.js';
import { changedToggles } from '../toggle.js';
import { makeChange } from './change-sheet.js';

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * The item of the sheet for a change of the state of a toggle in an environment.
 * @param {{project: string, name: string}} toggle
 * @param {{name: string, type: string}} environment
 * @param {{enabled: boolean, strategies: Object[]}} before
 * @param {{enabled: boolean, strategies: Object[]}} after
 * @param {{permission: string, asked: () => import('../change-request.js').AskedChange[]}} options see `Item`
 * @returns {import('./change-sheet.js').Item}
 */
export function stateItem(toggle, environment, before, after, { permission, asked }) {
  return {
    name: `${toggle.name} in ${environment.name}`,
    toggles: [toggle],
    places: [{ project: toggle.project, environment, isLive: before.enabled || after.enabled }],
    permission,
    turnsOff: before.enabled && !after.enabled && same(before.strategies, after.strategies),
    asked,
    async lines() {
      const segments = [before, after].some(({ strategies }) => strategies.some(({ segments: ids }) => ids.length > 0)) ? await loadSegments() : [];
      return stateLines(before, after, environment.name, segmentNames(segments));
    },
  };
}

/** The state of a toggle with other strategies: without an enabled one, it is off. */
export const withStrategies = ({ enabled }, strategies) => ({ enabled: enabled && strategies.some(({ disabled }) => !disabled), strategies });

/**
 * Returns what reverses changes of `reversibly` exactly, or undefined if they changed nothing or the state after them is not known. It
 * resolves to what was said, or to undefined if it was not undone.
 * @param {Array<{toggle: Object, environment: Object, before: Object, after?: Object}>} changes
 * @param {{may: Function, announce: Function}} context of the page
 * @param {() => string} [said]
 */
export function undoing(changes, context, said = () => 'Undone.') {
  const made = changes.filter(({ before, after }) => after && !same(before, after));
  if (made.length === 0) return undefined;
  const undone = made.map(({ toggle, environment, before, after }) => stateItem(toggle, environment, after, before, { permission: 'UPDATE_FEATURE_STRATEGY', asked: () => [] }));
  return Object.assign(undo, { items: undone });

  async function undo() {
    const states = await Promise.all(made.map(async ({ toggle, environment, before, after }) => {
      const now = await loadState(toggle, environment.name);
      if (isChangedSince(before, after, now)) throw changedSince();
      return { toggle, environment, now, target: reversed(before, after, now) };
    }));
    const items = states.map(({ toggle, environment, now, target }) => stateItem(toggle, environment, now, target, {
      permission: 'UPDATE_FEATURE_STRATEGY', asked: () => askedSteps(toggle, now, target),
    }));
    const result = await makeChange({
      title: 'Undo this change?', submit: 'Undo', items,
      async send({ write, items: some }) {
        for (const [i, { toggle, environment, now, target }] of states.entries()) {
          if (some.includes(items[i])) await bringTo(toggle, environment.name, now, target, write);
        }
        changedToggles();
      },
    }, context);
    return result === 'made' ? said() : undefined;
  }
}
