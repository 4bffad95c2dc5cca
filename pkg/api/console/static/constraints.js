// The editor of constraints, which strategies and segments share.

import { copyText } from './clipboard.js';
import { combobox, matching } from './combobox.js';
import { counted } from './dom.js';
import { pastedValues } from './pasted.js';
import { matcher } from './search.js';
import { element, html, live, nothing, repeat } from './template.js';
import { openAddValues } from './value-dialog.js';
import { operators } from './words.js';

/** The fields that every context has. They need not be defined. */
export const fixedFields = ['userId', 'sessionId', 'remoteAddress', 'appName', 'environment', 'currentTime'];
const shownValues = 50;
const searchedValues = 12; // from this number on, there is a search
let lastKey = 0;

/** What the editor keeps of a constraint: its properties, a key, and the value that is being typed. */
export function draftConstraint(constraint = { contextName: 'userId', operator: 'IN' }) {
  lastKey += 1;
  return { inverted: false, caseInsensitive: false, values: [], value: '', ...constraint, typed: '', key: lastKey };
}

/** The constraint that the API gets. A value that is being typed is one of its values. */
export function apiConstraint({ contextName, operator, values, value, inverted, caseInsensitive, typed }) {
  const shared = { contextName, operator, inverted, caseInsensitive };
  return isMany(operator) ? { ...shared, values: added(values, [typed]) } : { ...shared, value };
}

const isMany = (operator) => operators[operator]?.many ?? false;

/** Values with further ones, trimmed and without duplicates. */
const added = (values, more) => [...new Set([...values, ...more.map((value) => value.trim()).filter(Boolean)])];

/** Calls `add` with the values of a list that is pasted. A single value is inserted into the input, as everywhere. */
function paste(event, add) {
  const list = pastedValues(event.clipboardData.getData('text'));
  if (!list) return;
  event.preventDefault();
  add(list);
}

/**
 * Returns a function that makes the template of constraints.
 * @param {() => Array} fields the context fields
 * @param {(constraints: Array) => void} change called with all constraints, one of which has changed
 * @param {(message: string) => void} [announce]
 * @returns {(constraints: Array, errors: Object<number, string>) => unknown}
 */
export function constraintEditor(fields, change, announce = () => {}) {
  const searches = new Map(); // what is searched in the values of a constraint, by its key
  const pickers = new Map(); // comboboxes of legal values, by the key of the constraint
  return (constraints, errors = {}) => {
    const update = (constraint, changes) => change(constraints.map((other) => (other.key === constraint.key ? { ...other, ...changes } : other)));
    return html`
      <ol class="constraints">${repeat(constraints, ({ key }) => key, (constraint, i) => row(constraint, i, errors[i], {
        update: (changes) => update(constraint, changes),
        remove: () => change(constraints.filter((other) => other !== constraint)),
      }))}</ol>
      <button type="button" @click=${() => change([...constraints, draftConstraint()])}>Add condition</button>`;
  };

  function row(constraint, i, error, { update, remove }) {
    const { key, contextName, operator, inverted, caseInsensitive } = constraint;
    const names = [...new Set([...fixedFields, ...fields().map(({ name }) => name), contextName])];
    const about = `condition ${i + 1}`;
    const groups = Map.groupBy(Object.entries(operators), ([, { group }]) => group);
    const errorId = `constraint-${key}-error`;
    return html`<li>
      <div class="constraint" role="group" aria-label="Condition ${i + 1}" aria-describedby=${error ? errorId : nothing}>
        <select aria-label="Field of ${about}" @change=${({ target }) => update(forField(constraint, target.value))}>${names.map((name) => html`
          <option .value=${name} .selected=${live(name === contextName)}>${name}</option>`)}</select>
        <select aria-label="Operator of ${about}" @change=${({ target }) => update({ operator: target.value })}>${[...groups].map(([group, items]) => html`
          <optgroup label=${group}>${items.map(([name, { is, isNot }]) => html`
            <option .value=${name} .selected=${live(name === operator)}>${inverted ? isNot : is}</option>`)}</optgroup>`)}</select>
        ${isMany(operator) ? values(constraint, about, update) : single(constraint, about, update)}
        <div class="constraint-options">
          <label class="check"><input type="checkbox" .checked=${live(inverted)} @change=${({ target }) => update({ inverted: target.checked })}> Negate</label>
          ${operator.startsWith('STR_') ? html`<label class="check"><input type="checkbox" .checked=${live(caseInsensitive)}
            @change=${({ target }) => update({ caseInsensitive: target.checked })}> Any letter case</label>` : nothing}
          <button type="button" class="danger quiet" @click=${remove}>Remove<span class="visually-hidden"> ${about}</span></button>
        </div>
      </div>
      ${error ? html`<p class="error" id=${errorId}>${error}</p>` : nothing}
    </li>`;
  }

  /** What a constraint becomes with another field: times and addresses have operators of their own. */
  function forField({ operator }, contextName) {
    const { group } = operators[operator] ?? {};
    if (contextName === 'currentTime' && group !== 'Date') return { contextName, operator: 'DATE_AFTER' };
    if (contextName === 'remoteAddress' && group !== 'Address') return { contextName, operator: 'IN_CIDR' };
    if (contextName !== 'currentTime' && group === 'Date') return { contextName, operator: 'IN' };
    return { contextName };
  }

  function legalValues({ contextName, operator }) {
    return ['IN', 'NOT_IN'].includes(operator) ? fields().find(({ name }) => name === contextName)?.legalValues ?? [] : [];
  }

  function values(constraint, about, update) {
    const { key, values: chosen, typed } = constraint;
    const add = (more) => update({ values: added(chosen, more), typed: '' });
    const legal = legalValues(constraint).map(({ value }) => value);
    const unknown = legal.length > 0 ? chosen.filter((value) => !legal.includes(value)) : [];
    const query = searches.get(key) ?? '';
    const matches = matcher(query);
    const found = [...unknown, ...chosen.filter((value) => !unknown.includes(value))].filter((value) => matches(value));
    const hidden = found.length - shownValues;
    return html`<div class="chips">
      ${chosen.length > searchedValues ? html`<span class="detail">${counted(chosen.length, 'value')}</span>
        <input type="search" aria-label="Search values of ${about}" placeholder="Search values" autocomplete="off" dir="auto" .value=${live(query)}
          @input=${({ target }) => { searches.set(key, target.value); update({}); }}>` : nothing}
      ${repeat(found.slice(0, shownValues), (value) => value, (value) => html`<span class=${
  unknown.includes(value) ? 'chip wrong' : 'chip'}><bdi>${value}</bdi>${unknown.includes(value) ? html` <small>is not a legal value</small>` : nothing}<button type="button"
        aria-label="Remove ${value} from ${about}" @click=${() => update({ values: chosen.filter((other) => other !== value) })}>×</button></span>`)}
      ${hidden > 0 ? html`<span class="detail">and ${hidden.toLocaleString('en')} more</span>` : nothing}
      ${legal.length > 0 ? picker(constraint, about, add) : html`<input aria-label="Values of ${about}" placeholder="Add a value or paste a list"
        autocomplete="off" spellcheck="false" dir="auto" .value=${live(typed)}
        @input=${({ target }) => update({ typed: target.value })}
        @keydown=${(event) => { if (event.key === 'Enter') { event.preventDefault(); add([typed]); } }}
        @paste=${(event) => paste(event, (list) => update({ values: added(chosen, list) }))}
        @blur=${() => typed.trim() !== '' && add([typed])}>`}
      <button type="button" @click=${() => openAddValues({ title: `Add several values to ${about}`, name: constraint.contextName, add: (lines) => add(lines.map(({ value }) => value)) })}>Add
        several<span class="visually-hidden"> values to ${about}</span></button>
      ${chosen.length > 1 ? html`<button type="button" @click=${() => copyAll(chosen)}>Copy all<span class="visually-hidden"> values of ${about}</span></button>
        <button type="button" @click=${() => update({ values: [] })}>Remove all<span class="visually-hidden"> values of ${about}</span></button>` : nothing}
    </div>`;
  }

  function copyAll(list) {
    return copyText(list.join('\n'), `${counted(list.length, 'value')} copied.`, announce);
  }

  /** An input that proposes the legal values of a field. */
  function picker(constraint, about, add) {
    const { key } = constraint;
    if (!pickers.has(key)) {
      const input = element(html`<input placeholder="Choose a value" aria-label="Values of ${about}">`);
      const entry = { constraint, add };
      input.addEventListener('paste', (event) => paste(event, (list) => entry.add(list)));
      entry.box = combobox(input, {
        choices: (text) => matching(legalValues(entry.constraint).filter(({ value }) => !entry.constraint.values.includes(value))
          .map(({ value, description }) => ({ value, label: value, detail: description })), text),
        choose: (value) => {
          if (value === '') return;
          entry.box.set('');
          entry.add([value]);
        },
      });
      pickers.set(key, entry);
    }
    const entry = pickers.get(key);
    Object.assign(entry, { constraint, add });
    return entry.box.element;
  }

  function single({ operator, value }, about, update) {
    const { group } = operators[operator] ?? {};
    const hint = { Date: '2026-12-24T18:00:00Z', Version: '4.2.0', Number: '18', Text: '^a.*z$' }[group];
    return html`<input aria-label="Value of ${about}" placeholder=${hint ?? ''} autocomplete="off" spellcheck="false" dir="auto"
      inputmode=${group === 'Number' ? 'decimal' : nothing} .value=${live(value)} @input=${({ target }) => update({ value: target.value })}>`;
  }
}
