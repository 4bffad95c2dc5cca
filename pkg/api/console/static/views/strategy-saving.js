// Saves a strategy and a copy of it in another environment, through the sheet if that changes a live production environment.

import { text } from '../dom.js';
import { loadState, reversibly } from '../restore.js';
import { copyStrategy } from '../strategy.js';
import { forgetCounts } from '../toggle.js';
import { makeChange } from './change-sheet.js';
import { stateItem, undoing, withStrategies } from './state-change.js';

/**
 * @param {Object} options
 * @param {{project: string, name: string}} options.toggle
 * @param {{name: string, type: string}} options.environment
 * @param {string} [options.id] of the strategy; undefined: a new one
 * @param {Object} options.body of the request
 * @param {{name: string, type: string}|null} options.copyTo the environment that gets a copy
 * @param {(write: Function) => Promise<boolean>} options.saving saves it, and reports whether nobody else has changed it
 * @param {() => void} options.leave called after it was saved, or added to a draft
 * @param {Object} context of the page
 */
export async function saveStrategy({ toggle, environment, id, body, copyTo, saving, leave }, context) {
  const own = await savedItem();
  const copy = copyTo && await addedItem(copyTo);
  const result = await makeChange({
    title: ['Save this strategy to ', text(environment.name), ...copy ? [' and ', text(copyTo.name)] : [], '?'],
    submit: copy ? 'Save and copy' : `Save to ${environment.name}`,
    throws: true,
    items: copy ? [own, copy] : [own],
    async send({ write, items }) {
      const changes = [];
      const said = [];
      if (items.includes(own) && !await save(write, changes, said)) return;
      if (copy && items.includes(copy)) await saveCopy(write, changes, said);
      forgetCounts();
      context.announce(said.join(' '), undoing(changes, context));
      leave();
    },
  }, context);
  if (result === 'asked') leave();

  /** Reports whether it was saved: somebody else can have changed it. */
  async function save(write, changes, said) {
    let isSaved = false;
    const change = await reversibly(toggle, environment, async () => { isSaved = await saving(write); });
    if (!isSaved) return false;
    changes.push(change);
    said.push(`Saved to ${environment.name}.`);
    if (change.before.enabled && change.after?.enabled === false) said.push(`${toggle.name} is off in ${environment.name}.`);
    return true;
  }

  async function saveCopy(write, changes, said) {
    try {
      changes.push(await reversibly(toggle, copyTo, () => copyStrategy(body, toggle, copyTo.name, write)));
      said.push(`Copied to ${copyTo.name}.`);
    } catch (error) {
      said.push(`It was not copied to ${copyTo.name}: ${error.message}`);
    }
  }

  /** What saving changes in the environment, see `Item`. */
  async function savedItem() {
    if (id === undefined) return addedItem(environment);
    const now = await loadState(toggle, environment.name, context.signal);
    const strategies = now.strategies.map((strategy) => (strategy.id === id ? { ...strategy, ...body } : strategy));
    return stateItem(toggle, environment, now, withStrategies(now, strategies), {
      permission: 'UPDATE_FEATURE_STRATEGY', asked: () => [{ feature: toggle.name, action: 'updateStrategy', payload: { id, ...body } }],
    });
  }

  /** What a new strategy changes in an environment, see `Item`. */
  async function addedItem(to) {
    const now = await loadState(toggle, to.name, context.signal);
    return stateItem(toggle, to, now, withStrategies(now, [...now.strategies, { ...body, id: 'new' }]), {
      permission: 'CREATE_FEATURE_STRATEGY', asked: () => [{ feature: toggle.name, action: 'addStrategy', payload: body }],
    });
  }
}
