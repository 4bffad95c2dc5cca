// Which changes of toggles were made together, such as those of a selection in the list. The log has an event of each toggle, and a selection
// can need several requests. This module imports nothing.

const pause = 5000; // longest between two changes that were made together, in milliseconds

const keyOf = ({ type, environment, createdByUserId, createdByTokenId, reason }) => JSON.stringify([type, environment, createdByUserId, createdByTokenId, reason ?? null]);

/**
 * Returns those of some events, in the order of the log, that were made together with one of them: the same change of other toggles, by the
 * same author with the same reason, one soon after the other.
 * @param {Object} event
 * @param {Object[]} events
 */
export function madeTogether(event, events) {
  const alike = events.filter((other) => keyOf(other) === keyOf(event) && (other.id === event.id || other.featureName !== event.featureName));
  const isNear = (i) => alike[i] && alike[i + 1] && Math.abs(Date.parse(alike[i].createdAt) - Date.parse(alike[i + 1].createdAt)) <= pause;
  let first = alike.findIndex(({ id }) => id === event.id);
  let last = first;
  while (isNear(first - 1)) first -= 1;
  while (isNear(last)) last += 1;
  return alike.slice(first, last + 1).filter(({ featureName }, i, all) => all.findIndex((one) => one.featureName === featureName) === i); // the newest of a toggle
}
