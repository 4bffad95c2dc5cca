// Requests that bring the state of a toggle in an environment back.

import { call, read } from './api.js';
import { environmentPath } from './environment.js';
import { isChangedSince, reversed, steps } from './reversal.js';
import { restoreStrategy, strategyPath } from './strategy.js';

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
export async function turnOnAgain(toggle, environment) {
  const path = environmentPath(toggle, environment);
  const { content: { enabled, strategies }, etag } = await read(path);
  if (enabled) return;
  if (!hasEnabled(strategies)) throw noStrategy(toggle, environment);
  await call('POST', `${path}/on`, undefined, { etag });
}

/**
 * Changes the state of a toggle in an environment.
 * @param {{project: string, name: string}} toggle
 * @param {string} environment
 * @param {(etag: string|null) => Promise<unknown>} send gets the entity tag of the state before the change
 * @param {{content: Object, etag: string|null}} [opened] the state before the change, if it was read already
 * @returns {Promise<{before: Object, after?: Object, undo?: () => Promise<void>}>} the states, and a function that reverses exactly this
 *   change, unless nothing has changed or the state after it cannot be read
 */
export async function reversibly(toggle, environment, send, opened) {
  const { content: before, etag } = opened ?? await read(environmentPath(toggle, environment));
  await send(etag);
  const after = await loadState(toggle, environment).catch(() => undefined);
  return { before, after, undo: after && JSON.stringify(before) !== JSON.stringify(after) ? undo : undefined };

  async function undo() {
    const now = await loadState(toggle, environment);
    if (isChangedSince(before, after, now)) throw changedSince();
    await bringTo(toggle, environment, now, reversed(before, after, now));
  }
}

/** Brings the state of a toggle in an environment into another one. If it fails, it can be repeated with the state that it has then. */
export async function bringTo(toggle, environment, now, target) {
  const { off, restore, replace, order, remove, on } = steps(now, target);
  if (on && !hasEnabled(target.strategies)) throw noStrategy(toggle, environment);
  if (off) await call('POST', `${environmentPath(toggle, environment)}/off`);
  for (const strategy of restore) await restoreStrategy(strategy, toggle, environment);
  for (const { id, ...strategy } of replace) await change('PUT', id, strategy);
  if (order.length > 0) await call('POST', `${strategyPath(toggle, environment)}/set-sort-order`, order.map(({ id, sortOrder }) => ({ id, sortOrder })));
  for (const { id } of remove) await change('DELETE', id);
  if (on) await turnOnAgain(toggle, environment);

  /** Changes a strategy if it is as it was read. */
  async function change(method, id, body) {
    const path = strategyPath(toggle, environment, id);
    const { content, etag } = await read(path);
    if (JSON.stringify(content) !== JSON.stringify(now.strategies.find((strategy) => strategy.id === id))) throw changedSince();
    await call(method, path, body, { etag });
  }
}
