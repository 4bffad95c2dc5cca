// Tickets to remove toggles from the code, in Markdown.

import { call } from './api.js';
import { codeWords, loadPlaces } from './code-reference.js';
import { isProduction } from './environment.js';
import { isoDay } from './time.js';
import { usagePath } from './usage-counts.js';

const most = 100; // toggles whose applications and places in code are loaded
const mostPlaces = 20; // of a toggle
const atOnce = 6; // requests

/**
 * The text of a ticket.
 * @param {Object[]} toggles
 * @param {AbortSignal} signal
 */
export async function ticket(toggles, signal) {
  const [applications, code] = await Promise.all([applicationsOf(toggles, signal), placesOf(toggles, signal)]);
  const what = toggles.length === 1 ? `the toggle ${quoted(toggles[0].name)}` : `${toggles.length.toLocaleString('en')} toggles`;
  return [`## Remove ${what}`, '', ...toggles.flatMap((toggle) => about(toggle, applications.get(toggle), code.get(toggle))),
    'When applications without these toggles are deployed, archive them.', ''].join('\n');
}

/** The lines about a toggle: what remains in the code, where, and who uses it. */
function about(toggle, applications, places) {
  const { name, project, lastSeenAt, environments, description } = toggle;
  const on = environments.filter((environment) => environment.enabled && isProduction(environment)).map((environment) => environment.name);
  return [
    `- [ ] ${quoted(name)} (project ${project})${description ? `: ${description.replaceAll(/\s+/g, ' ')}` : ''}`,
    toggle.stage === 'complete' ? '  - Keep the code for “on”: it is on for everybody in production.'
      : on.length > 0 ? `  - It is on in ${on.join(', ')}. Decide which code stays.` : '  - Keep the code for “off”: it is off in production.',
    `  - Last used: ${lastSeenAt ? lastSeenAt.slice(0, 10) : 'never'}`,
    ...places ? inCode(toggle, places) : [],
    ...applications ? [`  - Applications: ${applications.length > 0 ? applications.map(quoted).join(', ') : 'none in the last 24 hours'}`] : [],
    `  - ${window.location.href.split('#')[0]}#/toggles/${project}/${name}`,
    '',
  ];
}

const quoted = (text) => `\`${text}\``;

/** The lines about the places of a toggle in code. */
function inCode(toggle, { places, absentSince, repositories }) {
  if (repositories.length === 0) return [];
  const having = repositories.filter((repository) => repository.places.length > 0);
  const all = having.flatMap((repository) => repository.places.map(({ path, line, url }) => (
    `    - ${url ? `[${path}:${line}](${url})` : `${quoted(`${path}:${line}`)} in ${repository.repository}`}`)));
  return [`  - Code: ${codeWords({ places, absentSince, repositories: having.length }, toggle, isoDay)}`, ...all.slice(0, mostPlaces),
    ...all.length > mostPlaces ? [`    - and ${(all.length - mostPlaces).toLocaleString('en')} more`] : []];
}

/** The applications that used toggles in the last 24 hours. Those of a toggle are missing if they cannot be loaded. */
const applicationsOf = (toggles, signal) => each(toggles, async (toggle) => (
  (await call('GET', usagePath(toggle), undefined, { signal })).seenApplications));

/** The places of toggles in code. Those of a toggle are missing if they cannot be loaded. */
const placesOf = (toggles, signal) => each(toggles, (toggle) => loadPlaces(toggle, signal));

/** What `load` returns for each toggle, unless it fails. */
async function each(toggles, load) {
  const found = new Map();
  const waiting = toggles.slice(0, most);
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (waiting.length > 0) {
      const toggle = waiting.shift();
      const loaded = await load(toggle).catch(() => null);
      if (loaded) found.set(toggle, loaded);
    }
  }));
  return found;
}
