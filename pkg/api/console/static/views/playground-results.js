// What the playground says of results: what would happen if a toggle were turned on, which fields decide, random users, and several contexts.

import { call } from '../api.js';
import { csvRows } from '../csv.js';
import { environmentName } from '../environment.js';
import { html, nothing } from '../template.js';
import { percent } from '../usage-counts.js';

const evaluatePath = '/api/admin/playground/advanced';
const mostContexts = 20;
const mostToggles = 10; // that are compared for several contexts
const mostNeeded = 12; // fields
const mostInCode = 20; // toggles
const atOnce = 4; // requests

/** Which strategy would turn on a toggle that is switched off, in words; '' if none would. */
export function wouldBe({ isEnabledInCurrentEnvironment, hasUnsatisfiedDependency, strategies }) {
  if (isEnabledInCurrentEnvironment || hasUnsatisfiedDependency) return '';
  const holds = strategies.data.findIndex(({ result }) => result.enabled === true);
  return holds < 0 ? '' : `would be on (strategy ${holds + 1})`;
}

/** A result as a word, with its variant. */
export function verdict(result) {
  const { isEnabled, variant } = result;
  const would = isEnabled ? '' : wouldBe(result);
  return html`<span><strong class=${isEnabled ? 'is-on' : 'is-off'}>${isEnabled ? 'on' : 'off'}</strong>${
    isEnabled && variant.enabled ? html` <bdi>${variant.name}</bdi>` : nothing}${would ? html` <span class="detail">· ${would}</span>` : nothing}</span>`;
}

/** The fields that decide about toggles: those of constraints and segments, and those from which rollouts compute a number. */
export function neededFields(toggles) {
  const strategies = toggles.flatMap(({ environments }) => Object.values(environments).flatMap(([{ strategies: { data } }]) => data));
  const names = strategies.flatMap(({ constraints, segments, parameters: { rollout, stickiness = '' } }) => [
    ...constraints, ...segments.flatMap((segment) => segment.constraints)].map(({ contextName }) => contextName)
    .concat(rollout && rollout !== '100' ? { default: 'userId', random: [], '': [] }[stickiness] ?? stickiness : []));
  return [...new Set(names)].slice(0, mostNeeded);
}

/** A program for the SDK of Node.js that gets toggles. */
export const sdkCode = (context, names) => [`const context = ${JSON.stringify(context, null, 2).replace(/("currentTime": )(".*")/, '$1new Date($2)')};`,
  ...names.slice(0, mostInCode).map((name) => `console.log(${JSON.stringify(name)}, unleash.isEnabled(${JSON.stringify(name)}, context));`), ''].join('\n');

/**
 * Evaluates a toggle for random users.
 * @param {{name: string, projectId: string}} toggle
 * @param {Object} body of a request
 * @param {AbortSignal} signal
 * @returns {Promise<Object<string, Object>>} the samples by environment
 */
export async function loadSample({ name, projectId }, body, signal) {
  const { features } = await call('POST', evaluatePath, { ...body, projects: [projectId], sample: [name] }, { signal });
  const { environments } = features.find((toggle) => toggle.name === name);
  return Object.fromEntries(Object.entries(environments).map(([environment, [{ sample }]]) => [environment, sample]));
}

/** A sample in words: "On for 24.8 % of 1,000 random users: blue 12.1 %, red 12.7 %". */
export function sampleWords({ users, on, variants }, isSwitchedOn) {
  const shares = Object.entries(variants).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${percent(count, users)}`);
  return `${isSwitchedOn ? 'On' : 'Would be on'} for ${percent(on, users)} of ${users.toLocaleString('en')} random users${shares.length > 0 ? `: ${shares.join(', ')}` : ''}.`;
}

/**
 * The contexts of a table: the first line has the names of fields, and each other line a context.
 * @param {string} text CSV, or cells of a spreadsheet
 * @returns {Array<Object<string, string>>} the values by the names of the fields
 */
export function readContexts(text) {
  const [names = [], ...rows] = csvRows(text).map((row) => row.map((cell) => cell.trim()));
  if (rows.length === 0) throw new Error('Enter the names of fields in the first line, and a context in each other line.');
  if (names.includes('')) throw new Error('Each column needs the name of a field in the first line.');
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`The first line has the field ${twice} twice.`);
  const long = rows.findIndex((row) => row.length > names.length);
  if (long >= 0) throw new Error(`Line ${long + 2} has more values than the first line has fields.`);
  if (rows.length > mostContexts) throw new Error(`Enter at most ${mostContexts} contexts: there are ${rows.length}.`);
  return rows.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ''])));
}

/** Evaluates toggles for several contexts: the results of each, in their order. */
export async function evaluateAll(bodies, signal) {
  const results = [];
  const left = bodies.map((body, i) => ({ body, i }));
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left.length > 0) {
      const { body, i } = left.shift();
      results[i] = (await call('POST', evaluatePath, body, { signal })).features;
    }
  }));
  return results;
}

/**
 * A table for each toggle, with a row for each context and a column for each environment.
 * @param {{contexts: Object[], results: Array<Object[]>}} compared
 * @param {(name: string) => boolean} matches selects toggles
 * @param {Array<{name: string}>} environments
 */
export function contextTables({ contexts, results }, matches, environments) {
  const found = results[0].filter(({ name }) => matches(name));
  const label = (context) => Object.entries(context).filter(([, value]) => value !== '').map(([name, value]) => `${name} ${value}`).join(', ') || 'No fields';
  return html`<section class="results" aria-label="Several contexts">
    ${found.slice(0, mostToggles).map(({ name }) => html`<h2><bdi>${name}</bdi></h2>
      <table role="table" class="outcomes"><caption class="visually-hidden">${name} for several contexts</caption>
        <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Context</th>${environments.map((environment) => html`
          <th role="columnheader" scope="col">${environmentName(environment)}</th>`)}</tr></thead>
        <tbody role="rowgroup">${contexts.map((context, i) => html`<tr role="row"><th role="rowheader" scope="row"><bdi>${label(context)}</bdi></th>
          ${environments.map((environment) => {
    const result = results[i].find((toggle) => toggle.name === name)?.environments[environment.name]?.[0];
    return html`<td role="cell" data-label=${environment.name}>${result ? verdict(result) : nothing}</td>`;
  })}</tr>`)}</tbody></table>`)}
    ${found.length === 0 ? html`<p class="detail">No toggles</p>` : nothing}
    ${found.length > mostToggles ? html`<p class="detail">${mostToggles} of ${found.length.toLocaleString('en')} toggles are shown. Enter a part of a name above to choose others.</p>` : nothing}
  </section>`;
}
