// The differences of the strategies of a toggle between two environments. This module imports nothing.

const properties = ['name', 'title', 'disabled', 'parameters', 'constraints', 'segments', 'variants'];

/** The properties in which two strategies differ, whatever their ids and their positions are. */
const changed = (a, b) => properties.filter((property) => JSON.stringify(a[property]) !== JSON.stringify(b[property]));

/**
 * Compares two lists of strategies. Those that are equal are left out. Of the others, those with the same title belong together, or
 * otherwise the first ones of the same type.
 * @returns {Array<{here?: Object, there?: Object, changed: string[]}>} a strategy that is in one list only, or two and what differs
 */
export function differences(here, there) {
  const rest = [...there];
  const take = (fits) => {
    const i = rest.findIndex(fits);
    return i < 0 ? undefined : rest.splice(i, 1)[0];
  };
  const different = here.filter((strategy) => !take((other) => changed(strategy, other).length === 0));
  const pairs = different.map((strategy) => {
    const other = take(({ title }) => title && title === strategy.title) ?? take(({ name }) => name === strategy.name);
    return { here: strategy, there: other, changed: other ? changed(strategy, other) : [] };
  });
  return [...pairs, ...rest.map((other) => ({ there: other, changed: [] }))];
}
