// Requests that bring the state of a toggle in an environment back.

import { call, read } from './api.js';
import { environmentPath } from './environment.js';
import { isChangedSince, reversed, steps } from './reversal.js';
import { restoreStrategy, strategyContent, strategyPath } from './strategy.js';

/** Loads the state of a toggle in an environment. */
export const loadState = (toggle, environment, signal) => call('GET', environmentPath(toggle, environment), undefined, { signal });

const noStrategy = (toggle, environment) => new Error(`${toggle.name} has no enabled strategy in ${environment} any more.`);
/** The error if what is to be undone has been changed again. */
export const changedSince = () => new Error('Someone has changed it since. The history shows what it is now.');
const hasEnabled = (strategies) => strategies.some(({ disabled }) => !disabled);

/**
 * Turns a toggle on again in an environment. It adds no strategy, unlike the API for a toggle without an enabled one, which is then on for
 * everyone.
 */
export async function turnOnAgain(toggle, environment, write = call) {
  const path = environmentPath(toggle, environment);
  const { content: { enabled, strategies }, etag } = await read(path);
  if (enabled) return;
  if (!hasEnabled(strategies)) throw noStrategy(toggle, environment);
  await write('POST', `${path}/on`, undefined, { etag });
}

/**
 * Changes the state of a toggle in an environment, so that it can be reversed.
 * @template {{name: string}} E
 * @param {{project: string, name: string}} toggle
 * @param {E} environment
 * @param {(etag: string|null) => Promise<unknown>} send gets the entity tag of the state before the change
 * @param {{content: Object, etag: string|null}} [opened] the state before the change, if it was read already
 * @returns {Promise<{toggle: Object, environment: E, before: Object, after?: Object}>} the states, without the one after the change if it
 *   cannot be read
 */
export async function reversibly(toggle, environment, send, opened) {
  const { content: before, etag } = opened ?? await read(environmentPath(toggle, environment.name));
  await send(etag);
  const after = await loadState(toggle, environment.name).catch(() => undefined);
  return { toggle, environment, before, after };
}

/** Reverses a change of `reversibly` exactly, if nobody has changed the same since. */
export async function reverse({ toggle, environment, before, after }, write = call) {
  if (!after) throw new Error('Its state could not be read.');
  const now = await loadState(toggle, environment.name);
  if (isChangedSince(before, after, now)) throw changedSince();
  await bringTo(toggle, environment.name, now, reversed(before, after, now), write);
}

/** The changes of a change request that do what `bringTo` does. Strategies that were deleted get new ids. */
export function askedSteps({ name: feature }, now, target) {
  const { off, restore, replace, order, remove, on } = /** @type {Object<string, any>} */ (steps(now, target));
  const turn = (enabled) => ({ feature, action: 'updateEnabled', payload: { enabled } });
  return [
    ...off ? [turn(false)] : [],
    ...restore.map((strategy) => ({ feature, action: 'addStrategy', payload: strategyContent(strategy) })),
    ...replace.map((strategy) => ({ feature, action: 'updateStrategy', payload: { id: strategy.id, ...strategyContent(strategy) } })),
    ...order.length > 0 ? [{ feature, action: 'reorderStrategy', payload: order.map(({ id, sortOrder }) => ({ id, sortOrder })) }] : [],
    ...remove.map(({ id }) => ({ feature, action: 'deleteStrategy', payload: { id } })),
    ...on && !now.enabled ? [turn(true)] : [],
  ];
}

/** Brings the state of a toggle in an environment into another one. If it fails, it can be repeated with the state that it has then. */
export async function bringTo(toggle, environment, now, target, write = call) {
  const { off, restore, replace, order, remove, on } = steps(now, target);
  if (on && !hasEnabled(target.strategies)) throw noStrategy(toggle, environment);
  if (off) await write('POST', `${environmentPath(toggle, environment)}/off`);
  for (const strategy of restore) await restoreStrategy(strategy, toggle, environment, write);
  for (const { id, ...strategy } of replace) await change('PUT', id, strategy);
  if (order.length > 0) await write('POST', `${strategyPath(toggle, environment)}/set-sort-order`, order.map(({ id, sortOrder }) => ({ id, sortOrder })));
  for (const { id } of remove) await change('DELETE', id);
  if (on) await turnOnAgain(toggle, environment, write);

  /** Changes a strategy if it is as it was read. */
  async function change(method, id, body) {
    const path = strategyPath(toggle, environment, id);
    const { content, etag } = await read(path);
    if (JSON.stringify(content) !== JSON.stringify(now.strategies.find((strategy) => strategy.id === id))) throw changedSince();
    await write(method, path, body, { etag });
  }
}
