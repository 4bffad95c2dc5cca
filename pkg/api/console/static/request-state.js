// What the changes of a change request do to the state of a toggle in an environment. This module imports nothing.

const hasEnabled = (strategies) => strategies.some(({ disabled }) => !disabled);

/** What a strategy has that a request does not name. */
function newStrategy(id, feature, sortOrder, { name, parameters = {}, ...rest }) {
  const defaults = name === 'flexibleRollout' ? { rollout: '100', stickiness: 'default', groupId: feature } : {};
  return { title: null, disabled: false, constraints: [], segments: [], variants: [], sortOrder, ...rest, id, name, parameters: { ...defaults, ...parameters } };
}

/**
 * Returns the state after a change, as the service makes it. A change that is not about the state, or that is not possible, changes nothing.
 * @typedef {{enabled: boolean, strategies: Array<Object<string, any>>}} State
 * @param {State} state
 * @param {{id: number, action: string, payload?: any}} change of a request
 * @param {string} feature the name of the toggle
 * @returns {State}
 */
export function stateAfter({ enabled, strategies }, { id, action, payload = {} }, feature) {
  const kept = (next) => ({ enabled: enabled && hasEnabled(next), strategies: next });
  const add = (strategy) => [...strategies, newStrategy(`new ${id}`, feature, strategies.length, strategy)];
  switch (action) {
    case 'updateEnabled':
      if (!payload.enabled || hasEnabled(strategies)) return { enabled: payload.enabled, strategies };
      if (payload.shouldActivateDisabledStrategies && strategies.length > 0) return { enabled: true, strategies: strategies.map((strategy) => ({ ...strategy, disabled: false })) };
      return { enabled: true, strategies: add({ name: 'flexibleRollout' }) };
    case 'addStrategy': return { enabled, strategies: add(payload) };
    case 'updateStrategy': return kept(strategies.map((strategy) => (strategy.id === payload.id ? { ...strategy, ...payload } : strategy)));
    case 'deleteStrategy': return kept(strategies.filter((strategy) => strategy.id !== payload.id));
    case 'reorderStrategy': {
      const orders = new Map(payload.map((order) => [order.id, order.sortOrder]));
      const moved = strategies.map((strategy) => /** @type {Object<string, any>} */ ({ ...strategy, sortOrder: orders.get(strategy.id) ?? strategy.sortOrder }));
      return { enabled, strategies: moved.sort((a, b) => a.sortOrder - b.sortOrder || (a.id < b.id ? -1 : 1)) };
    }
    default: return { enabled, strategies };
  }
}
