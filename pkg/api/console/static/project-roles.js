// What roles in projects permit, in words. This module imports nothing.

/**
 * Permissions in a sentence: "Create toggles. In production: Turn toggles on and off."
 * @param {{displayName: string, environment?: string}[]} permissions
 */
export function permissionWords(permissions) {
  const places = Map.groupBy(permissions, ({ environment = '' }) => environment);
  return [...places].sort(([a], [b]) => (a < b ? -1 : 1)).map(([environment, held]) => {
    const names = held.map(({ displayName }) => displayName).join(', ');
    return environment === '' ? `${names}.` : `In ${environment}: ${names}.`;
  }).join(' ');
}
