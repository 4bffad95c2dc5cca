// What two people have changed at the same time. This module imports nothing.

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Merges two changes of an object, property by property.
 * @param {Object} before what both have begun with
 * @param {Object} mine
 * @param {Object} theirs
 * @param {string[]} names of the properties
 * @returns {{merged: Object, taken: string[], both: string[]}} `merged` is mine, with what only they have changed, whose names are in `taken`;
 *   `both` names what both have changed differently
 */
export function merge(before, mine, theirs, names) {
  const changed = names.filter((name) => !same(before[name], theirs[name]) && !same(mine[name], theirs[name]));
  const taken = changed.filter((name) => same(before[name], mine[name]));
  const merged = { ...mine };
  for (const name of taken) merged[name] = theirs[name];
  return { merged, taken, both: changed.filter((name) => !taken.includes(name)) };
}
