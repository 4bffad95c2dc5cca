// The changes of a change request as sentences, and what each one changes on the state of now.

import { stateAfter } from './request-state.js';
import { segmentDifferences } from './segment.js';
import { archivedLine, dependencyLine, stateLines } from './state-words.js';

/** What each action does to the toggle or segment whose name follows. */
const phrases = {
  updateEnabled: ({ enabled }) => (enabled ? 'Turn on' : 'Turn off'),
  addStrategy: () => 'Add a strategy to',
  updateStrategy: () => 'Change a strategy of',
  deleteStrategy: () => 'Delete a strategy of',
  reorderStrategy: () => 'Change the order of the strategies of',
  archiveFeature: () => 'Archive',
  addDependency: () => 'Change the dependency of',
  deleteDependency: () => 'Remove the dependency of',
  updateSegment: () => 'Change the segment',
  deleteSegment: () => 'Delete the segment',
};

/** A change in words: what it does, and to which toggle or segment. */
export const changeWords = ({ action, payload, feature, name }) => ({
  does: phrases[action]?.(payload ?? {}) ?? action, subject: feature ?? (name || `number ${payload.id}`),
});

/**
 * What the changes of a request change, one after the other, by their ids.
 * @param {Object} request
 * @param {Array<Object>} changes see `changesOf`
 * @param {Map<string, Object>} toggles by their names, as they are now; those that do not exist are left out
 * @param {Object[]} segments
 * @param {(id: number) => string} segmentName
 * @returns {Map<number, import('./state-words.js').Line[]>}
 */
export function requestLines({ environment }, changes, toggles, segments, segmentName) {
  const states = new Map();
  const dependencies = new Map();
  const lines = new Map();
  for (const change of changes) lines.set(change.id, change.feature === undefined ? segmentLines(change, segments) : toggleLines(change));
  return lines;

  function toggleLines(change) {
    const { feature: name, action, payload } = change;
    const toggle = toggles.get(name);
    if (!toggle) return [];
    if (action === 'archiveFeature') {
      return toggle.environments.filter(({ enabled }) => enabled).map((on) => archivedLine(on.name));
    }
    if (action === 'addDependency' || action === 'deleteDependency') {
      const before = dependencies.has(name) ? dependencies.get(name) : toggle.dependencies[0];
      const after = action === 'addDependency' ? payload : undefined;
      dependencies.set(name, after);
      return [dependencyLine(before, after)];
    }
    const before = states.get(name) ?? toggle.environments.find((one) => one.name === environment);
    if (!before) return [];
    const after = stateAfter(before, change, name);
    states.set(name, after);
    return stateLines(before, after, environment, segmentName);
  }
}

function segmentLines({ action, payload }, segments) {
  const segment = segments.find(({ id }) => id === payload.id);
  return segment && action === 'updateSegment' ? segmentDifferences(segment, payload) : [];
}
