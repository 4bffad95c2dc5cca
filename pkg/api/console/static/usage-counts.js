// What pages compute of the use of toggles. The module uses no other, so that tests can run it.

const hour = 3_600_000;
const day = 24 * hour;

/** The path of the usage of a toggle in the API. */
export const usagePath = ({ name }) => `/api/admin/client-metrics/features/${encodeURIComponent(name)}`;

/** The number of days without a request after which a toggle counts as no longer used. */
export const unusedDays = 30;

/** The periods of the chart by their number of days. Those of more than a week are shown by day. */
export const periods = { 1: '24 hours', 7: '7 days', 90: '90 days' };

/**
 * Returns the first of the last days, in UTC, such as "2026-10-24". A toggle that was last used before it was not used in these days, as in
 * the searches of the API.
 * @param {number} days
 * @param {number} now
 */
export const firstDay = (days, now) => new Date(now - days * day).toISOString().slice(0, 10);

/** Reports whether applications have used a toggle since a day. */
export const isUsedSince = ({ lastSeenAt }, since) => lastSeenAt !== null && lastSeenAt !== undefined && lastSeenAt.slice(0, 10) >= since;

/**
 * Returns why a toggle may be removed, or could be if it were not kept: its stage `complete` or `to-remove`, `overdue` if it is older than the
 * lifetime of its type, and `never` or `unused` if no application has asked for
 * it since a day. A toggle that is younger and was never used has no such reason. One whose type has no lifetime, such as a kill switch, is to
 * stay when it is complete.
 */
export function removalReasons({ stage, potentiallyStale, potentiallyStaleAt, lastSeenAt, createdAt }, since) {
  const reasons = [];
  if (stage === 'complete' && potentiallyStaleAt !== null) reasons.push(stage);
  if (potentiallyStale) reasons.push('overdue');
  if (stage === 'to-remove') reasons.push(stage);
  if (lastSeenAt === null) {
    if (createdAt.slice(0, 10) < since) reasons.push('never');
  } else if (lastSeenAt.slice(0, 10) < since) reasons.push('unused');
  return reasons;
}

/**
 * Adds up the usage of a toggle per hour, or per day in UTC if there are more than seven days.
 * @param {Array<{timestamp: string, yes: number, no: number}>} data
 * @param {number} days
 * @param {number} now
 * @returns {{size: number, parts: Array<{start: number, yes: number, no: number}>}} all parts until now, and their length in milliseconds
 */
export function byTime(data, days, now) {
  const size = days > 7 ? day : hour;
  const last = Math.floor(now / size);
  const first = last + 1 - days * day / size;
  const parts = Array.from({ length: last + 1 - first }, (_, i) => ({ start: (first + i) * size, yes: 0, no: 0 }));
  for (const { timestamp, yes, no } of data) {
    const part = parts[Math.floor(Date.parse(timestamp) / size) - first];
    if (!part) continue;
    part.yes += yes;
    part.no += no;
  }
  return { size, parts };
}

/**
 * Adds up the usage of a toggle per application, the one with the highest numbers first.
 * @returns {Array<{name: string, yes: number, no: number, last: string}>} `last` is the newest hour with a report
 */
export function byApplication(data) {
  const found = new Map();
  for (const { appName: name, timestamp, yes, no } of data) {
    if (yes + no === 0) continue;
    const item = found.get(name) ?? { name, yes: 0, no: 0, last: '' };
    item.yes += yes;
    item.no += no;
    if (timestamp > item.last) item.last = timestamp;
    found.set(name, item);
  }
  return [...found.values()].sort((a, b) => b.yes + b.no - a.yes - a.no || (a.name < b.name ? -1 : 1));
}

/** Adds up how often a toggle had each variant, the most frequent one first. */
export function byVariant(data) {
  const found = new Map();
  for (const { variants = {} } of data) {
    for (const [name, count] of Object.entries(variants)) found.set(name, (found.get(name) ?? 0) + count);
  }
  return [...found].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

/** A part of a number: "24.8 %". */
export const percent = (part, all) => `${(100 * part / all).toFixed(1)} %`;

/** The path of an SVG with a bar for each part of `byTime`. The highest one is as high as the image, and one with a number at least 1. */
export function sparkline(parts, width, height) {
  const step = width / parts.length;
  const numbers = parts.map(({ yes, no }) => yes + no);
  const most = Math.max(...numbers);
  return numbers.map((number, i) => {
    const high = number === 0 ? 0 : Math.max(1, Math.round(height * number / most));
    return high === 0 ? '' : `M${i * step} ${height}v${-high}h${step - 1}v${high}z`;
  }).join('');
}
