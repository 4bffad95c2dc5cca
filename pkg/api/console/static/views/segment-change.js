// A change of a segment, for the sheet: it changes what applications get wherever a strategy uses the segment.

import { isProduction } from '../environment.js';
import { togglesOf } from '../segment.js';
import { constraintWords } from '../words.js';

/** What the properties of segments are called. */
export const segmentLabels = { name: 'Name', description: 'Description', project: 'Project', constraints: 'Conditions' };

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
      { project, environment: environments.find((environment) => environment.name === name) ?? { name, type: '' }, isLive: true })),
    permission,
    lines: () => segmentLines(before, after),
    asked: () => [{ action: 'updateSegment', payload: { id: before.id, ...after } }],
  };
}

function segmentLines(before, after) {
  const words = { constraints: (all) => all.map(constraintWords).join(' and ') || 'everyone' };
  return Object.entries(segmentLabels).flatMap(([name, label]) => {
    const [from, to] = [before[name], after[name]].map((value) => words[name]?.(value) ?? value ?? 'none');
    return from === to ? [] : [{ label: `${label}: `, from, to }];
  });
}
