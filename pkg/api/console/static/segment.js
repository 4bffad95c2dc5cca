// Segments in all views.

import { call } from './api.js';
import { counted } from './dom.js';
import { constraintWords } from './words.js';

/** The path of the segments in the API. */
export const segmentsPath = '/api/admin/segments';

/** The address of the page of a segment. */
export const segmentAddress = (id) => `#/segments/${id}`;

/** Reports whether the caller may do what needs a permission to a segment, which can be one of a project. */
export const mayChange = ({ may }, permission, { project }) => may(permission) || (Boolean(project) && may('UPDATE_PROJECT_SEGMENT', project));

/** What a change of a segment needs, see why.js. */
export const segmentNeed = (permission, { project }, to) => (project ? { permission: 'UPDATE_PROJECT_SEGMENT', project, to } : { permission, to });

/** Loads the segments. */
export async function loadSegments(signal) {
  return (await call('GET', segmentsPath, undefined, { signal })).segments;
}

/** Returns a function that names the segment with an id. The segments are null while they are loading. */
export const segmentNames = (segments) => (id) => (segments === null ? '…' : segments.find((segment) => segment.id === id)?.name ?? `number ${id}`);

/** Loads the strategies that use a segment, in all environments. */
export async function loadSegmentUses(id, signal) {
  return (await call('GET', `${segmentsPath}/${encodeURIComponent(id)}/strategies`, undefined, { signal })).strategies;
}

/** The names of the toggles in which some strategies are. */
export const togglesOf = (uses) => [...new Set(uses.map(({ featureName }) => featureName))].sort();

/** How many strategies and toggles: "12 strategies in 8 toggles". */
export const usesInWords = (uses) => `${counted(uses.length, 'strategy', 'strategies')} in ${counted(togglesOf(uses).length, 'toggle')}`;

/**
 * How the values of conditions change: "+40 −2 values". Empty if no value does.
 * @param {Array} before constraints
 * @param {Array} after constraints
 */
export function valueChanges(before, after) {
  const values = (constraints) => new Set(constraints.flatMap(({ contextName, operator, inverted, values: many, value }) => (
    (many ?? [value]).map((one) => JSON.stringify([contextName, operator, inverted, one])))));
  const [old, now] = [values(before), values(after)];
  const [plus, minus] = [[...now].filter((one) => !old.has(one)).length, [...old].filter((one) => !now.has(one)).length];
  const parts = [plus > 0 && `+${plus.toLocaleString('en')}`, minus > 0 && `−${minus.toLocaleString('en')}`].filter(Boolean);
  return parts.length === 0 ? '' : `${parts.join(' ')} ${plus + minus === 1 ? 'value' : 'values'}`;
}

/** What the properties of segments are called. */
export const segmentLabels = { name: 'Name', description: 'Description', project: 'Project', constraints: 'Conditions' };

/**
 * What is different in a segment.
 * @param {Object} before
 * @param {Object} after some or all of its properties
 * @returns {import('./state-words.js').Line[]}
 */
export function segmentDifferences(before, after) {
  const words = { constraints: (all) => all.map(constraintWords).join(' and ') || 'everyone' };
  return Object.entries(segmentLabels).filter(([name]) => name in after).flatMap(([name, label]) => {
    const [from, to] = [before[name], after[name]].map((value) => words[name]?.(value) ?? value ?? 'none');
    return from === to ? [] : [{ label: `${label}: `, from, to }];
  });
}
