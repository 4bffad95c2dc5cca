// The order of environments. This module imports nothing.

/**
 * The orders that move an environment to another position in the list. Those that have the same order get different ones.
 * @param {Array<{name: string, sortOrder: number}>} environments in their order
 * @param {number} from the index of the one that moves
 * @param {number} to
 * @returns {Array<{name: string, sortOrder: number, before: number}>} the environments whose order changes
 */
export function ordersAfterMove(environments, from, to) {
  const orders = environments.map(({ sortOrder }) => sortOrder);
  for (let i = 1; i < orders.length; i += 1) orders[i] = Math.max(orders[i], orders[i - 1] + 1);
  const moved = environments.toSpliced(from, 1).toSpliced(to, 0, environments[from]);
  return moved.map(({ name, sortOrder }, i) => ({ name, sortOrder: orders[i], before: sortOrder })).filter(({ sortOrder, before }) => sortOrder !== before);
}
