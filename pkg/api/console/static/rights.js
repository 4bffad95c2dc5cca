// What roles grant. This module imports nothing.

/**
 * Reports whether a role has a permission. Fixed roles have those of the type environment in all environments.
 * @param {{permissions: Array<{name: string, environment?: string}>}} role
 * @param {string} name
 * @param {string} [environment] without it, at least one
 */
export const grants = ({ permissions }, name, environment = undefined) => permissions.some((held) => held.name === 'ADMIN'
  || (held.name === name && (!held.environment || environment === undefined || held.environment === environment)));

/**
 * Reports whether the root role Editor has a permission in each open project: what Member has, and moving toggles.
 * @param {string} name
 * @param {boolean} isMembers whether the role Member has it
 */
export const editorInOpen = (name, isMembers) => isMembers || name === 'MOVE_FEATURE_TOGGLE';
