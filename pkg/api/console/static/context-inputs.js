// Inputs for the fields of a context that decide about something, and the context that they have.

import { fixedFields } from './constraints.js';
import { html, live, nothing } from './template.js';

/**
 * An input for each field.
 * @param {string[]} names of the fields
 * @param {Object<string, string>} values by the names of the fields, which the inputs change
 * @param {Array<{name: string, legalValues: Array<{value: string}>}>} fields all context fields
 * @param {{draw: () => void, run: () => void}} listeners called after each input, and after Enter
 */
export const contextInputs = (names, values, fields, { draw, run }) => names.map((name) => {
  const legal = fields.find((field) => field.name === name)?.legalValues ?? [];
  return html`<div class="field"><label for="try-${name}"><bdi>${name}</bdi></label>
    <input id="try-${name}" autocomplete="off" spellcheck="false" dir="auto" list=${legal.length > 0 ? `legal-${name}` : nothing}
      placeholder=${name === 'currentTime' ? 'Now' : 'Not set'} .value=${live(values[name] ?? '')}
      @input=${({ target }) => { values[name] = target.value; draw(); }}
      @keydown=${(event) => { if (event.key === 'Enter') { event.preventDefault(); run(); } }}>
    ${legal.length > 0 ? html`<datalist id="legal-${name}">${legal.map(({ value }) => html`<option value=${value}></option>`)}</datalist>` : nothing}</div>`;
});

/** The context of the API with the values of fields. Empty ones are not set. */
export function contextOf(names, values) {
  const entries = names.map((name) => [name, values[name]]).filter(([, value]) => value);
  const isFixed = ([name]) => fixedFields.includes(name);
  return { ...Object.fromEntries(entries.filter(isFixed)), properties: Object.fromEntries(entries.filter((entry) => !isFixed(entry))) };
}
