// A change of a segment, for the sheet: it changes what applications get wherever a strategy uses the segment.

import { isProduction, namedEnvironment } from '../environment.js';
import { segmentDifferences, togglesOf } from '../segment.js';

/** The names of the toggles in production that use a segment. */
export function inProduction(uses, environments) {
  const names = environments.filter(isProduction).map(({ name }) => name);
  return togglesOf(uses.filter(({ environment }) => names.includes(environment)));
}

/**
 * @param {Object} before the segment
 * @param {Object} after what the request sends
 * @param {{uses: Object[], environments: Array<{name: string, type: string}>, permission: string}} options `uses` are the strategies that use it
 * @returns {import('./change-sheet.js').Item}
 */
export function segmentItem(before, after, { uses, environments, permission }) {
  const isSame = JSON.stringify(before.constraints) === JSON.stringify(after.constraints);
  return {
    name: before.name,
    toggles: inProduction(uses, environments).map((name) => ({ name, project: '' })),
    places: isSame ? [] : uses.map(({ projectId: project, environment: name }) => (
      { project, environment: namedEnvironment(environments, name), isLive: true })),
    permission,
    lines: () => segmentDifferences(before, after),
    asked: () => [{ action: 'updateSegment', payload: { id: before.id, ...after } }],
  };
}
