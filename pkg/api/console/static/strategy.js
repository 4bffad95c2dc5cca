// Strategies in all views: their paths and addresses, and the requests that change them.

import { call } from './api.js';
import { environmentAddress, environmentPath } from './environment.js';

/** The path of the strategies of a toggle in an environment, or of one of them. */
export const strategyPath = (toggle, environment, id) =>
  `${environmentPath(toggle, environment)}/strategies${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** The address of the editor of a strategy. Without an id, it is that of a new one. */
export const strategyAddress = (toggle, environment, id = 'new') => `${environmentAddress(toggle, environment)}/strategies/${id}`;

/** What the properties of strategies are called. */
export const strategyLabels = {
  name: 'Type', title: 'Title', disabled: 'Disabled', parameters: 'Reach', constraints: 'Conditions', segments: 'Segments', variants: 'Variants',
};

/** What a request has of a strategy. */
export const strategyContent = ({ name, title, disabled, constraints, parameters, variants, segments }) => (
  { name, title, disabled, constraints, parameters, variants, segments });

/** Creates a strategy that is like another one. */
export const copyStrategy = (strategy, toggle, environment, write = call) => write('POST', strategyPath(toggle, environment), strategyContent(strategy));

/** Makes a strategy like another one. */
export const replaceStrategy = (id, strategy, toggle, environment, write = call) => write('PUT', strategyPath(toggle, environment, id), strategyContent(strategy));

/** Creates a strategy that was deleted again, with its id. */
export const restoreStrategy = ({ id, ...strategy }, toggle, environment, write = call) => (
  write('PUT', strategyPath(toggle, environment, id), strategy, { isNew: true }));

/** The positions of strategies in the order of a list. */
export const orderOf = (strategies) => strategies.map(({ id }, i) => ({ id, sortOrder: i }));

/** Gives strategies the order of a list. */
export async function orderStrategies(strategies, toggle, environment, write = call) {
  const order = orderOf(strategies);
  try {
    await write('POST', `${strategyPath(toggle, environment)}/set-sort-order`, order);
  } catch (error) {
    if (error.status !== 400) throw error;
    throw new Error('Someone has deleted a strategy meanwhile. The order has not changed.', { cause: error });
  }
}
