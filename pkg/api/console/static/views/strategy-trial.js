// A trial of the strategy that is being edited: whether it would hold for a context, and why. The API evaluates it.

import { call } from '../api.js';
import { contextInputs, contextOf } from '../context-inputs.js';
import { reasonList } from '../reasons.js';
import { html, nothing } from '../template.js';
import { listed, strategyFields, strategyReasons } from '../words.js';

const path = '/api/admin/playground/strategy';

/**
 * Returns a function that makes the template of the trial.
 * @param {Object} edit what edits the strategy, see `editResource`
 * @param {Array} fields the context fields
 * @param {Array} segments
 * @param {() => void} draw shows the page
 */
export function strategyTrial(edit, fields, segments, draw) {
  const state = {
    values: {}, // of the context, by field
    busy: false,
    result: null, // {of, strategy}: the strategy with its reasons, and the request that it is the response to
  };
  return template;

  function template() {
    const { result, busy } = state;
    const names = needed();
    return html`<section class="trial" aria-labelledby="trial">
      <h2 id="trial">Try a context</h2>
      <p class="detail">${names.length > 0 ? 'Would this strategy hold for:' : 'It holds for every context, or does not depend on its fields.'}</p>
      ${contextInputs(names, state.values, fields, { draw, run })}
      <button type="button" aria-disabled=${busy ? 'true' : nothing} aria-busy=${busy ? 'true' : nothing} @click=${run}>${busy ? 'Trying…' : 'Try'}</button>
      <div role="status">${result?.of === JSON.stringify(body()) ? outcome(result.strategy) : nothing}</div>
    </section>`;
  }

  /** The fields that the result depends on. */
  function needed() {
    const used = edit.body();
    const shared = segments.filter(({ id }) => used.segments.includes(id)).flatMap(({ constraints }) => constraints);
    return strategyFields({ ...used, constraints: [...used.constraints, ...shared] });
  }

  function outcome(strategy) {
    const { enabled, variant } = strategy.result;
    return html`<p><strong class=${enabled === true ? 'is-on' : 'is-off'}>${enabled === true ? 'It holds' : enabled === false ? 'It does not hold'
      : strategy.name === 'applicationHostname' ? `It holds on ${listed(strategy.parameters.hostNames.split(','))}` : 'It depends on a segment that you do not see'}</strong>${variant ? html`, with the variant <bdi>${variant.name}</bdi>` : nothing}.</p>
      ${reasonList(strategyReasons(strategy))}`;
  }

  function body() {
    const { name, parameters, constraints, segments: ids, variants } = edit.body();
    return { name, parameters, constraints, segments: ids, variants, context: contextOf(needed(), state.values) };
  }

  async function run() {
    if (state.busy) return;
    state.busy = true;
    const sent = body();
    await edit.attempt(async () => {
      state.result = { of: JSON.stringify(sent), strategy: await call('POST', path, sent, { signal: edit.signal }) };
    });
    state.busy = false;
    draw();
  }
}
