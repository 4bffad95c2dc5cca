// A trial of a change request: for whom the toggles are on now, and after its changes. The API evaluates them.

import { call } from '../api.js';
import { changesOf } from '../change-request.js';
import { contextInputs, contextOf } from '../context-inputs.js';
import { environmentName, namedEnvironment } from '../environment.js';
import { text } from '../dom.js';
import { html, nothing } from '../template.js';
import { resultReason, strategyFields } from '../words.js';

/**
 * Returns a function that makes the template of the trial.
 * @param {Object} page the state of the page: the request, its toggles, the segments and environments
 * @param {AbortSignal} signal
 * @param {() => void} draw
 */
export function requestTrial(page, signal, draw) {
  const state = { fields: null, values: {}, busy: false, result: null, problem: '' };
  return { load, template };

  async function load() {
    state.fields ??= await call('GET', '/api/admin/context', undefined, { signal });
  }

  /** The fields that decide about the toggles, now or after the changes. */
  function needed() {
    const { environment } = page.opened.content;
    const now = [...page.toggles.values()].flatMap(({ environments }) => environments.find(({ name }) => name === environment)?.strategies ?? []);
    const changed = changesOf(page.opened.content).map(({ payload }) => payload).filter((payload) => payload && (payload.constraints || payload.parameters || payload.segments));
    const strategies = [...now, ...changed].map((strategy) => ({ name: 'flexibleRollout', parameters: {}, constraints: [], segments: [], variants: [], ...strategy }));
    const shared = page.segments.filter(({ id }) => strategies.some(({ segments }) => segments.includes(id))).flatMap(({ constraints }) => constraints);
    const names = strategies.flatMap((strategy) => strategyFields({ ...strategy, parameters: { stickiness: 'default', rollout: '100', ...strategy.parameters } }));
    return [...new Set([...names, ...shared.map(({ contextName }) => contextName)])];
  }

  function template() {
    if (!state.fields) return nothing;
    const names = needed();
    const waits = state.busy ? 'true' : nothing;
    return html`<section class="trial" aria-labelledby="trial"><h2 id="trial">Try a context</h2>
      <p class="detail">${names.length > 0 ? 'What would change for:' : 'The same changes for every context.'}</p>
      ${contextInputs(names, state.values, state.fields, { draw, run })}
      <button type="button" aria-disabled=${waits} aria-busy=${waits} @click=${run}>${state.busy ? 'Trying…' : 'Try'}</button>
      <p class="error" role="alert">${state.problem}</p>
      <div role="status">${state.result ? outcome(state.result) : nothing}</div></section>`;
  }

  function outcome(features) {
    const rows = features.flatMap(({ name, environments }) => Object.entries(environments).map(([environment, [before, after]]) => ({ name, environment, before, after })));
    const word = ({ isEnabled, variant }) => (isEnabled ? `on${variant?.enabled ? `, ${variant.name}` : ''}` : 'off');
    return html`<ul class="sentences">${rows.map(({ name, environment, before, after }) => html`<li>${text(name)} in ${environmentName(namedEnvironment(page.environments, environment))}:
      ${word(before) === word(after) ? html`${word(after)} <span class="detail">as now</span>` : html`<del>${word(before)}</del> → <ins>${word(after)}</ins>`}
      <small>${resultReason(after)}</small></li>`)}</ul>`;
  }

  async function run() {
    if (state.busy) return;
    Object.assign(state, { busy: true, problem: '' });
    draw();
    try {
      const { features } = await call('POST', `/api/admin/playground/change-request/${page.opened.content.id}`, { context: contextOf(needed(), state.values) }, { signal });
      state.result = features;
    } catch (error) {
      if (signal.aborted) return;
      Object.assign(state, { problem: error.message, result: null });
    }
    state.busy = false;
    draw();
  }
}
