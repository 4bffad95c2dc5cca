// The editor of the legal values of a context field: rows that can be added, pasted, searched, removed and moved. Of many, it shows some.

import { copyText } from './clipboard.js';
import { counted, focusOn } from './dom.js';
import { menu } from './menu.js';
import { matcher } from './search.js';
import { html, live, nothing, repeat } from './template.js';
import { openAddValues } from './value-dialog.js';

const searchedValues = 12; // from this number on, there is a search
const shownRows = 50;
let lastKey = 0;

/**
 * What the editor keeps of a value: its properties and a key. A row that was added is shown whatever the search is.
 * @param {{value: string, description?: string, isAdded?: boolean}} value
 */
export function draftValue({ value, description, isAdded = false }) {
  lastKey += 1;
  return { value, description, isAdded, key: lastKey };
}

/**
 * Makes the editor.
 * @param {Object} options
 * @param {boolean} options.editable
 * @param {(message: string) => void} options.announce
 * @param {() => string} options.name of the context field
 * @param {() => Object<string, string>} options.errors messages by control: `legalValues/INDEX/value` or `legalValues/INDEX/description`
 * @param {() => unknown} options.error the error of all values
 * @param {(values: Array) => void} options.change called with the new values
 * @param {() => void} options.draw shows the page
 * @returns {{template: (values: Array) => unknown}}
 */
export function valueEditor({ editable, announce, name, errors, error, change, draw }) {
  const state = { query: '', limit: shownRows };
  return { template };

  function template(values) {
    const messages = errors();
    const matches = matcher(state.query);
    const all = values.map((item, index) => ({ item, index }));
    const matching = all.filter(({ item, index }) => item.isAdded || isInvalid(messages, index) || matches(item.value, item.description));
    const kept = new Set(matching.filter(({ item, index }, i) => i < state.limit || item.isAdded || isInvalid(messages, index)));
    const invalid = messages.legalValues ? 'true' : nothing;
    return html`<fieldset><legend>Legal values</legend>
      <p class="detail">${values.length === 0 ? 'None: the field can have any value.' : 'Strategies and segments compare the field with these only.'}</p>
      ${values.length <= searchedValues ? nothing : html`<div class="finder"><input type="search" aria-label="Search legal values" placeholder="Search legal values"
        autocomplete="off" dir="auto" .value=${live(state.query)} @input=${({ target }) => { Object.assign(state, { query: target.value, limit: shownRows }); draw(); }}>
        <p class="detail count" role="status">${`${kept.size.toLocaleString('en')} of ${counted(values.length, 'value')} shown`}</p></div>`}
      <ol class="value-rows">${repeat(kept, ({ item }) => item.key, ({ item, index }) => row(values, item, index, messages))}</ol>
      ${kept.size < matching.length ? html`<button type="button" @click=${() => { state.limit += shownRows; draw(); }}>Show more</button>` : nothing}
      ${error()}
      <div class="buttons">
        ${editable ? html`<button type="button" name="legalValues" aria-invalid=${invalid} aria-describedby=${messages.legalValues ? 'legalValues-error' : nothing}
          @click=${() => append(values)}>Add legal value</button>
        <button type="button" @click=${() => addSeveral(values)}>Add several</button>` : nothing}
        ${values.length > 0 ? html`<button type="button" @click=${() => copyAll(values)}>Copy all</button>` : nothing}
      </div></fieldset>`;
  }

  function row(values, { key, value, description }, i, messages) {
    const input = (property, label, placeholder, text) => {
      const control = `legalValues/${i}/${property}`;
      const message = messages[control];
      return html`<input id="value-${key}-${property}" name=${control} ?disabled=${!editable} class=${property} aria-label="${label} ${i + 1}" placeholder=${placeholder} autocomplete="off"
        spellcheck="false" dir="auto" aria-invalid=${message ? 'true' : nothing} aria-describedby=${message ? `value-${key}-${property}-error` : nothing}
        .value=${live(text ?? '')} @input=${({ target }) => set({ [property]: target.value })}
        @keydown=${(event) => { if (event.key === 'Enter') event.preventDefault(); }}>
        ${message ? html`<p class="error" id="value-${key}-${property}-error">${message}</p>` : nothing}`;
    };
    const set = (changes) => change(values.map((other) => (other.key === key ? { ...other, ...changes } : other)));
    return html`<li>${input('value', 'Value', 'Value', value)}${input('description', 'Description of value', 'Description (optional)', description)}
      ${editable ? html`<div>${menu(`Actions of value ${i + 1}`, `value-${key}`, [
    ...i > 0 ? [{ label: 'Move up', action: () => move(values, i, i - 1) }] : [],
    ...i < values.length - 1 ? [{ label: 'Move down', action: () => move(values, i, i + 1) }] : [],
    { label: 'Remove', danger: true, action: () => remove(values, i) },
  ])}</div>` : nothing}</li>`;
  }

  function append(values) {
    const added = draftValue({ value: '', isAdded: true });
    change([...values, added]);
    document.getElementById(`value-${added.key}-value`)?.focus();
  }

  function addSeveral(values) {
    openAddValues({
      title: 'Add several legal values',
      name: name(),
      described: true,
      add: (lines) => {
        const known = new Set(values.map(({ value }) => value.normalize('NFC')));
        const added = lines.filter(({ value }) => !known.has(value.normalize('NFC'))).map(draftValue);
        change([...values, ...added]);
        announce(`${counted(added.length, 'value')} added. They are saved with the field.`);
      },
    });
  }

  function move(values, from, to) {
    change(values.toSpliced(from, 1).toSpliced(to, 0, values[from]));
    focusOn(`[popovertarget="value-${values[from].key}"]`); // moving an element takes the focus from it
    announce(`Moved to position ${to + 1} of ${values.length}.`);
  }

  function remove(values, at) {
    const left = values.toSpliced(at, 1);
    change(left);
    const next = left[Math.min(at, left.length - 1)];
    const itsMenu = `[popovertarget="value-${next?.key}"]`;
    focusOn(document.querySelector(itsMenu) ? itsMenu : '[name=legalValues]'); // a search may hide it
    announce(`Removed. ${counted(left.length, 'value')} left.`);
  }

  function copyAll(values) {
    const lines = values.map(({ value, description }) => (description ? `${value}\t${description}` : value));
    return copyText(lines.join('\n'), `${counted(values.length, 'value')} copied.`, announce);
  }
}

const isInvalid = (messages, i) => Boolean(messages[`legalValues/${i}/value`] || messages[`legalValues/${i}/description`]);
