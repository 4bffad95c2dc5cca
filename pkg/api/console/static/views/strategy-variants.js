// The editor of the variants of a strategy.

import { html, live, nothing, repeat } from '../template.js';
import { spread } from '../variants.js';

const payloadTypes = { '': 'No payload', string: 'Text', json: 'JSON', csv: 'CSV', number: 'Number' };
let lastKey = 0;

/**
 * The template of the variants.
 * @param {Object} edit see `editResource`
 */
export function variantEditor(edit) {
  const setVariants = (list) => edit.set({ variants: spread(list) });
  const all = edit.state.values.variants;
  const update = (variant, changes) => setVariants(all.map((other) => (other === variant ? { ...variant, ...changes } : other)));
  return html`<fieldset><legend>Variants</legend>
    <ol class="variants">${repeat(all, ({ key }) => key, (variant, i) => html`<li><div class="variant" role="group" aria-label="Variant ${i + 1}">
      <input aria-label="Name of variant ${i + 1}" placeholder="Name" autocomplete="off" spellcheck="false" .value=${live(variant.name)}
        @input=${({ target }) => update(variant, { name: target.value })}>
      <span class="percent"><input aria-label="Percent of variant ${i + 1}" inputmode="decimal" .value=${live(variant.typed ?? String(variant.weight / 10))}
        @input=${({ target }) => update(variant, { weightType: 'fix', typed: target.value, weight: weightOf(target.value) })}> %</span>
      <label class="check"><input type="checkbox" .checked=${live(variant.weightType === 'fix')} @change=${({ target }) => update(variant, {
  weightType: target.checked ? 'fix' : 'variable', typed: undefined })}> Fixed</label>
      <progress aria-label="Share of variant ${i + 1}" max="1000" value=${variant.weight}></progress>
      <select aria-label="Payload of variant ${i + 1}" @change=${({ target }) => update(variant, {
  payload: target.value === '' ? undefined : { type: target.value, value: variant.payload?.value ?? '' } })}>${Object.entries(payloadTypes).map(([type, label]) => html`
        <option .value=${type} .selected=${live(type === (variant.payload?.type ?? ''))}>${label}</option>`)}</select>
      ${variant.payload ? html`<textarea rows="1" aria-label="Value of the payload of variant ${i + 1}" dir="auto" spellcheck="false"
        .value=${live(variant.payload.value)} @input=${({ target }) => update(variant, { payload: { ...variant.payload, value: target.value } })}></textarea>` : nothing}
      <button type="button" class="danger quiet" @click=${() => setVariants(all.filter((other) => other !== variant))}>Remove<span
        class="visually-hidden"> variant ${i + 1}</span></button>
    </div></li>`)}</ol>
    <button type="button" @click=${() => setVariants([...all, newVariant(all)])}>Add variant</button>${edit.error('variants')}</fieldset>`;
}

/** A variant as the editor keeps it. */
export const keyed = (variant) => {
  lastKey += 1;
  return { ...variant, key: lastKey };
};

/** A variable variant with a name that is free. */
function newVariant(variants) {
  let i = variants.length + 1;
  while (variants.some(({ name }) => name === `variant-${i}`)) i += 1;
  return keyed({ name: `variant-${i}`, weight: 0, weightType: 'variable' });
}

/** The weight of a percentage, or 0 for what is none. */
function weightOf(percent) {
  const weight = Math.round(Number(percent.replace(',', '.')) * 10);
  return weight >= 0 && weight <= 1000 ? weight : 0;
}
