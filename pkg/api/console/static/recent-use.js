// How often applications used a toggle in the last 24 hours, as a sentence and as a line.

import { call } from './api.js';
import { counted } from './dom.js';
import { html, nothing } from './template.js';
import { exactTime, timeOfDay } from './time.js';
import { timeOfUse } from './toggle.js';
import { byApplication, byTime, percent, sparkline, usagePath } from './usage-counts.js';
import { listed } from './words.js';

const hours = 24;
const hour = 3_600_000;
const height = 20; // of a line

/** Loads the usage of a toggle in all environments. `hoursBack` counts the running hour. */
export const loadRecentUse = async (toggle, signal, hoursBack = hours) => (
  await call('GET', `${usagePath(toggle)}/raw?hoursBack=${hoursBack}`, undefined, { signal })).data;

/**
 * Loads the usage of some toggles in all environments together, with one request.
 * @param {Array<{name: string}>} toggles at most 50
 * @param {AbortSignal} signal
 * @returns {Promise<(toggle: {name: string}) => unknown>} the line of a toggle, null without usage
 */
export async function loadLines(toggles, signal) {
  const feature = `IS_ANY_OF:${toggles.map(({ name }) => name).join()}`;
  const { features } = await call('GET', `/api/admin/client-metrics/features?${new URLSearchParams({ feature })}`, undefined, { signal });
  const lines = new Map(features.map(({ name, yes, no }) => [name, yes.map((count, i) => ({ yes: count, no: no[i] }))]));
  return ({ name }) => line(lines.get(name) ?? [], 72) ?? null;
}

/**
 * The line of how often applications used a toggle in an environment, or nothing.
 * @param {Array} data of `loadRecentUse`
 * @param {{name: string}} environment of the toggle
 */
export function recentSparkline(data, { name }) {
  return line(byTime(data.filter(({ environment }) => environment === name), 1, Date.now()).parts, 96) ?? nothing;
}

/** The numbers of 24 hours as a line, undefined without numbers. */
function line(parts, width) {
  const asked = parts.reduce((sum, { yes, no }) => sum + yes + no, 0);
  if (asked === 0) return undefined;
  const label = `${counted(asked, 'evaluation')} in 24 hours`;
  return html`<svg class="recent-line" viewBox="0 0 ${width} ${height}" width=${width} height=${height} role="img"
    aria-label=${label}><title>${label}</title><path d=${sparkline(parts, width, height)}></path></svg>`;
}

/**
 * Says how often and when applications used a toggle in an environment.
 * @param {Array} data of `loadRecentUse`
 * @param {{name: string, lastSeenAt: string|null}} environment of the toggle
 */
export function recentUse(data, { name, lastSeenAt }) {
  const used = data.filter(({ environment }) => environment === name);
  const { parts } = byTime(used, 1, Date.now());
  const applications = byApplication(used);
  const asked = parts.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const on = parts.reduce((sum, { yes }) => sum + yes, 0);
  if (asked === 0 && !lastSeenAt) return html`<p class="detail recent-use">No application has used it here yet.</p>`;
  const last = [lastSeenAt ?? '', ...applications.map((application) => application.last)].sort().at(-1);
  return html`<p class="detail recent-use">${asked === 0 ? 'Not used in the last 24 hours.' : html`
    <span>${counted(asked, 'evaluation')} in 24 hours, ${percent(on, asked)} on, for <bdi>${listed(applications.map((application) => application.name), 'and')}</bdi>.</span>`}
    <span>Last used <time datetime=${last} title=${exactTime(last)}>${timeOfUse(last)}</time>.</span></p>`;
}

/**
 * Says how often toggles were evaluated in some environments since the beginning of the hour before this one.
 * @param {Array<{project: string, name: string}>} toggles
 * @param {string[]} environments
 * @param {AbortSignal} signal
 */
export async function lastHours(toggles, environments, signal) {
  const data = await Promise.all(toggles.map((toggle) => loadRecentUse(toggle, signal, 2)));
  const used = data.flat().filter(({ environment }) => environments.includes(environment));
  const since = `since ${timeOfDay((Math.floor(Date.now() / hour) - 1) * hour)}`;
  const asked = used.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const one = toggles.length === 1;
  const names = [...new Set(environments)];
  if (asked === 0) return `No application has used ${one ? 'it' : 'them'} in ${listed(names)} ${since}.`;
  const on = used.reduce((sum, { yes }) => sum + yes, 0);
  return `${one ? 'It was' : 'They were'} evaluated in ${listed(names, 'and')} ${counted(asked, 'time')} ${since}, ${percent(on, asked)} on, for ${
    listed(byApplication(used).map((application) => application.name), 'and')}.`;
}
