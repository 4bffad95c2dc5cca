// What brings the state of a toggle in an environment back: its switch and its strategies. This module imports nothing.

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const byId = (strategies) => new Map(strategies.map((strategy) => [strategy.id, strategy]));

/** Returns a function that reports whether a change created, changed or deleted the strategy with an id. */
function changedBy(before, after) {
  const [old, changed] = [byId(before.strategies), byId(after.strategies)];
  return (id) => !same(old.get(id), changed.get(id));
}

/**
 * Returns the state in which a change is reversed: what it changed is as it was before, and the rest is as it is now.
 * @typedef {{enabled: boolean, strategies: Array<{id: string, sortOrder: number, disabled: boolean}>}} State
 * @param {State} before
 * @param {State} after
 * @param {State} now
 * @returns {State}
 */
export function reversed(before, after, now) {
  const isChanged = changedBy(before, after);
  const strategies = [...now.strategies.filter(({ id }) => !isChanged(id)), ...before.strategies.filter(({ id }) => isChanged(id))];
  return {
    enabled: before.enabled === after.enabled ? now.enabled : before.enabled,
    strategies: strategies.sort((a, b) => a.sortOrder - b.sortOrder || (a.id < b.id ? -1 : 1)),
  };
}

/** Reports whether a strategy that a change changed is now neither as it was before nor as it was afterwards. */
export function isChangedSince(before, after, now) {
  const [old, changed, current] = [before, after, now].map(({ strategies }) => byId(strategies));
  const isChanged = changedBy(before, after);
  return [...new Set([...old.keys(), ...changed.keys()])]
    .some((id) => isChanged(id) && !same(current.get(id), changed.get(id)) && !same(current.get(id), old.get(id)));
}

/**
 * Returns what is to be done to bring a state into another one, in this order: `off` turns the toggle off, `restore` creates strategies with
 * their ids, `replace` changes strategies, `order` only their positions, `remove` deletes strategies, and `on` turns the toggle on.
 * @param {State} now
 * @param {State} target
 */
export function steps(now, target) {
  const [current, wanted] = [byId(now.strategies), byId(target.strategies)];
  const moved = (strategy) => ({ ...current.get(strategy.id), sortOrder: strategy.sortOrder });
  const known = target.strategies.filter(({ id }) => current.has(id));
  const restore = target.strategies.filter(({ id }) => !current.has(id));
  const replace = known.filter((strategy) => !same(moved(strategy), strategy));
  const order = known.filter((strategy) => same(moved(strategy), strategy) && current.get(strategy.id).sortOrder !== strategy.sortOrder);
  const remove = now.strategies.filter(({ id }) => !wanted.has(id));
  // Deleting the last enabled strategy turns the toggle off, in one step.
  const isLast = remove.length === 1 && restore.length + replace.length === 0 && known.every(({ disabled }) => disabled);
  return { off: now.enabled && !target.enabled && !isLast, restore, replace, order, remove, on: target.enabled };
}
