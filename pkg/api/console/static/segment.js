// Segments in all views.

import { call } from './api.js';

/** The path of the segments in the API. */
export const segmentsPath = '/api/admin/segments';

/** The address of the page of a segment. */
export const segmentAddress = (id) => `#/segments/${id}`;

/** Loads the segments. */
export async function loadSegments(signal) {
  return (await call('GET', segmentsPath, undefined, { signal })).segments;
}

/** Returns a function that names the segment with an id. */
export const segmentNames = (segments) => (id) => segments.find((segment) => segment.id === id)?.name ?? `number ${id}`;
