// How often applications asked for a toggle in the last 24 hours, as a sentence and as a line.

import { call } from './api.js';
import { counted } from './dom.js';
import { html, nothing } from './template.js';
import { exactTime, timeOfDay } from './time.js';
import { timeOfUse } from './toggle.js';
import { byApplication, byTime, percent, sparkline, usagePath } from './usage-counts.js';
import { listed } from './words.js';

const hours = 24;
const hour = 3_600_000;
const size = { width: 96, height: 20 };

/** Loads the usage of a toggle in all environments. `hoursBack` counts the running hour. */
export const loadRecentUse = async (toggle, signal, hoursBack = hours) => (
  await call('GET', `${usagePath(toggle)}/raw?hoursBack=${hoursBack}`, undefined, { signal })).data;

/**
 * The line of how often applications asked for a toggle in an environment, or nothing.
 * @param {Array} data of `loadRecentUse`
 * @param {{name: string}} environment of the toggle
 */
export function recentSparkline(data, { name }) {
  const { parts } = byTime(data.filter(({ environment }) => environment === name), 1, Date.now());
  const asked = parts.reduce((sum, { yes, no }) => sum + yes + no, 0);
  if (asked === 0) return nothing;
  return html`<svg class="recent-line" viewBox="0 0 ${size.width} ${size.height}" width=${size.width} height=${size.height} role="img"
    aria-label="${counted(asked, 'evaluation')} in 24 hours"><path d=${sparkline(parts, size.width, size.height)}></path></svg>`;
}

/**
 * Says how often and when applications asked for a toggle in an environment.
 * @param {Array} data of `loadRecentUse`
 * @param {{name: string, lastSeenAt: string|null}} environment of the toggle
 */
export function recentUse(data, { name, lastSeenAt }) {
  const used = data.filter(({ environment }) => environment === name);
  const { parts } = byTime(used, 1, Date.now());
  const applications = byApplication(used);
  const asked = parts.reduce((sum, { yes, no }) => sum + yes + no, 0);
  const on = parts.reduce((sum, { yes }) => sum + yes, 0);
  if (asked === 0 && !lastSeenAt) return html`<p class="detail recent-use">No application has asked for it here yet.</p>`;
  const last = [lastSeenAt ?? '', ...applications.map((application) => application.last)].sort().at(-1);
  return html`<p class="detail recent-use">${asked === 0 ? 'Not asked for in the last 24 hours.' : html`
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
  if (asked === 0) return `No application has asked for ${one ? 'it' : 'them'} there ${since}.`;
  const on = used.reduce((sum, { yes }) => sum + yes, 0);
  return `${one ? 'It was' : 'They were'} evaluated there ${counted(asked, 'time')} ${since}, ${percent(on, asked)} on, for ${
    listed(byApplication(used).map((application) => application.name), 'and')}.`;
}
