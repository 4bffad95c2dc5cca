// Strategies in all views: their paths and addresses, and the requests that change them.

import { call } from './api.js';
import { environmentAddress, environmentPath } from './environment.js';

/** The path of the strategies of a toggle in an environment, or of one of them. */
export const strategyPath = (toggle, environment, id) =>
  `${environmentPath(toggle, environment)}/strategies${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** The address of the editor of a strategy. Without an id, it is that of a new one. */
export const strategyAddress = (toggle, environment, id = 'new') => `${environmentAddress(toggle, environment)}/strategies/${id}`;

/** Creates a strategy that is like another one. */
export function copyStrategy({ name, title, disabled, constraints, parameters, variants, segments }, toggle, environment) {
  return call('POST', strategyPath(toggle, environment), { name, title, disabled, constraints, parameters, variants, segments });
}

/** Gives strategies the order of a list. */
export async function orderStrategies(strategies, toggle, environment) {
  const order = strategies.map(({ id }, i) => ({ id, sortOrder: i }));
  try {
    await call('POST', `${strategyPath(toggle, environment)}/set-sort-order`, order);
  } catch (error) {
    if (error.status !== 400) throw error;
    throw new Error('Someone has deleted a strategy meanwhile. The order has not changed.', { cause: error });
  }
}
