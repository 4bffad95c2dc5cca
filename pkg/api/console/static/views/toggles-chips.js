// The filters of the list of toggles that have an operator: the chips that show them, and the form that adds and changes one.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { field, FieldError, form } from '../dialog.js';
import { focusOn } from '../dom.js';
import { filterChoices, learnOwners, ownerLabel } from '../owner.js';
import { accountName, findAccounts } from '../person.js';
import { knownProjects, projectChoices } from '../project.js';
import { element, html, nothing, render } from '../template.js';
import { shortDay } from '../time.js';
import { isPlain, stageNames } from '../toggle.js';

/**
 * What a filter can say. `one` is the operator of the API for one value, `many` for several ones, `value` the only value that it has.
 * @typedef {{one?: string, many?: string, label: string, labelOfMany?: string, value?: string}} Operator
 */
/** @type {Operator[]} */
const is = [{ one: 'IS', many: 'IS_ANY_OF', label: 'is', labelOfMany: 'is any of' }, { one: 'IS_NOT', many: 'IS_NONE_OF', label: 'is not', labelOfMany: 'is none of' }];
/** @type {Operator[]} */
const includes = [
  { one: 'INCLUDE', many: 'INCLUDE_ANY_OF', label: 'is', labelOfMany: 'is any of' },
  { one: 'DO_NOT_INCLUDE', many: 'EXCLUDE_IF_ANY_OF', label: 'is not', labelOfMany: 'is none of' },
  { many: 'INCLUDE_ALL_OF', label: 'has all of' },
  { many: 'EXCLUDE_ALL', label: 'does not have all of' },
];
/** @type {Operator[]} */
const days = [{ one: 'IS_BEFORE', label: 'before' }, { one: 'IS_ON_OR_AFTER', label: 'on or after' }];
const only = [{ one: 'IS', label: 'is' }];

const fewest = 2; // characters of a search for people
const mostApplications = 50; // that are proposed

/**
 * @param {Object} state that of the list
 * @param {Object} options
 * @param {Object} options.context of the page
 * @param {(changes: Object) => void} options.filter shows other filters
 * @param {() => void} options.draw
 * @param {string[]} options.names of the filters, in the order of addresses
 */
export function filterChips(state, { context: { user, signal }, filter, draw, names }) {
  const labels = new Map(); // of values that were chosen, by field and value
  const fields = filterFields(state, user, signal);
  let editor = null; // its element
  return { template, toggle: () => (editor ? close() : open()), close };

  function template() {
    learnOwners(state.page?.features ?? []);
    const used = ['stage', ...names].filter((name) => state.filters[name] && (name !== 'stage' || !isPlain(state.filters.stage)));
    return html`${editor ?? nothing}${used.length === 0 ? nothing : html`<ul class="chips chosen" aria-label="Filters">${used.map((name) => {
      const words = sentence(name);
      return html`<li class="chip"><button type="button" title="Change the filter" @click=${() => open(name)}><bdi>${words}</bdi></button><button type="button"
        aria-label="Remove the filter ${words}" @click=${() => remove({ [name]: undefined })}>×</button></li>`;
    })}${used.length < 2 ? nothing : html`<li><button type="button" class="quiet" @click=${() => remove(Object.fromEntries(used.map((name) => [name, undefined])))}>Clear filters</button></li>`}</ul>`}`;
  }

  function remove(changes) {
    close();
    filter(changes);
    focusOn('.add-filter');
  }

  /** A filter in words: "Type is any of Release, Experiment". */
  function sentence(name) {
    const { label, operators, isDay } = fields[name];
    const { operator, values } = parse(operators, state.filters[name]);
    const words = operator.value ? operator.label
      : `${values.length > 1 ? operator.labelOfMany ?? operator.label : operator.label} ${values.map((value) => (isDay && Date.parse(value) ? shortDay(value) : labelOf(name, value))).join(', ')}`;
    return label === '' ? words[0].toUpperCase() + words.slice(1) : `${label} ${words}`;
  }

  function labelOf(name, value) {
    return labels.get(`${name} ${value}`) ?? fields[name].labelOf?.(value) ?? value;
  }

  function close() {
    if (editor === null) return;
    const hadFocus = editor.contains(document.activeElement);
    editor = null;
    state.isFilterOpen = false;
    draw();
    if (hadFocus) focusOn('.add-filter');
  }

  /** Opens the form for a new filter, or for one that is there. */
  function open(opened = undefined) {
    const controls = element(html`<div class="filter-fields"></div>`);
    const fieldSelect = element(html`<select name="field" @change=${() => choose(fieldSelect.value)}>${Object.entries(fields).map(([name, { title, label }]) => html`
      <option value=${name}>${title ?? label}</option>`)}</select>`);
    let edited; // {name, value(): the filter}
    editor = element(html`<section class="filter-editor" aria-label="Filter" @keydown=${(event) => event.key === 'Escape' && close()}></section>`);
    render(form({
      submit: 'Apply', busy: 'Applying…', cancel: close,
      async send() {
        const changes = { [edited.name]: edited.value() };
        close();
        filter(changes);
        focusOn('.add-filter');
      },
    }, controls), editor);
    fieldSelect.value = opened ?? Object.keys(fields).find((name) => !state.filters[name]);
    choose(fieldSelect.value);
    state.isFilterOpen = true;
    draw();
    focusOn(opened ? '[name=value]' : '[name=field]', editor);

    function choose(name) {
      const inputs = valueInputs(name, () => editor.querySelector('form').requestSubmit());
      edited = { name, value: inputs.value };
      render(html`${field('Field', fieldSelect)}${inputs.template}`, controls);
    }
  }

  /** The controls for the operator and the values of a field. `apply` is called when Enter is pressed without another value. */
  function valueInputs(name, apply) {
    const { label, operators, isDay, choices, isOne } = fields[name];
    const parsed = state.filters[name] ? parse(operators, state.filters[name]) : { operator: operators[0], values: [] };
    const values = [...parsed.values];
    const select = element(html`<select name="operator" @change=${showInput}>${operators.map((operator, i) => html`<option value=${i}>${operator.label}</option>`)}</select>`);
    select.value = String(operators.indexOf(parsed.operator));
    const input = element(isDay ? html`<input type="date" name="value" value=${values[0] ?? ''}>` : html`<input name="value" autocomplete="off">`);
    const shown = isDay ? input : element(html`<div class="chips"></div>`);
    let found = [];
    const box = isDay ? null : combobox(input, {
      async choices(part) {
        found = (await choices(part).catch(() => [])).filter(({ value: one }) => !values.includes(one));
        return found;
      },
      choose(chosen) {
        box.set('');
        if (chosen === '') {
          if (values.length > 0) apply();
          return;
        }
        labels.set(`${name} ${chosen}`, found.find(({ value: one }) => one === chosen)?.label ?? chosen);
        if (isOne) values.length = 0;
        values.push(chosen);
        showValues();
      },
    });
    const place = element(html`<div></div>`);
    if (box) showValues();
    showInput();
    return { template: html`${field('Operator', select)}${place}`, value };

    function operatorOf() {
      return operators[Number(select.value)];
    }

    function showInput() {
      render(operatorOf().value ? nothing : field(isDay ? 'Day (UTC)' : 'Value', input, undefined, shown), place);
    }

    function showValues() {
      render([values.map((one) => html`<span class="chip"><bdi>${labelOf(name, one)}</bdi><button type="button" aria-label="Remove ${labelOf(name, one)}"
        @click=${() => { values.splice(values.indexOf(one), 1); showValues(); input.focus(); }}>×</button></span>`), box.element], shown);
    }

    function value() {
      const operator = operatorOf();
      if (operator.value) return compose(operators, operator, [operator.value]);
      const all = isDay ? [input.value].filter(Boolean) : values;
      if (all.length === 0) throw new FieldError('value', isDay ? 'Enter a day.' : 'Choose a value.');
      if (all.length > 1 && all.some((one) => one.includes(','))) throw new FieldError('value', `With several values, none can have a comma. ${label || 'The filter'} has one.`);
      return compose(operators, operator, all);
    }
  }
}

/**
 * What an address says of a filter.
 * @param {Operator[]} operators
 * @param {string} filter
 */
function parse(operators, filter) {
  const [, name, rest] = /^([A-Z_]+):(.*)$/s.exec(isPlain(filter) ? `${operators === includes ? 'INCLUDE' : 'IS'}:${filter}` : filter) ?? [];
  const operator = operators.find(({ one, value }) => one === name && value === rest) ?? operators.find(({ one, many, value }) => !value && (one === name || many === name)) ?? operators[0];
  return { operator, values: operator.many === name ? rest.split(',') : [rest] };
}

/**
 * A filter as addresses have it.
 * @param {Operator[]} operators
 * @param {Operator} operator
 * @param {string[]} values
 */
function compose(operators, { one, many }, values) {
  if (values.length > 1 || !one) return `${many}:${values.join(',')}`;
  return isPlain(values[0]) && ['IS', 'INCLUDE'].includes(one) ? values[0] : `${one}:${values[0]}`;
}

/**
 * The fields by the names of their filters: what each is called, its operators, and its values.
 * @returns {Object<string, {label: string, title?: string, operators: Operator[], isDay?: boolean, isOne?: boolean,
 *   choices?: (part: string) => Promise<Array<{value: string, label: string, detail?: string}>>, labelOf?: (value: string) => string|undefined}>}
 */
function filterFields(state, user, signal) {
  const load = (path) => call('GET', path, undefined, { signal });
  const chosen = (all) => {
    let loaded; // once, for all texts
    return async (part) => {
      loaded ??= all().catch((error) => {
        loaded = undefined;
        throw error;
      });
      return matching(await loaded, part);
    };
  };
  const stages = Object.entries(stageNames).filter(([value]) => value !== '').map(([value, label]) => ({ value, label }));
  const statuses = () => state.environments.flatMap(({ name }) => [
    { value: `${name}:enabled`, label: `on in ${name}` }, { value: `${name}:disabled`, label: `off in ${name}` }]);
  const yesOrNo = [{ value: 'true', label: 'yes' }, { value: 'false', label: 'no' }];
  const creators = () => (state.page?.features ?? []).map(({ createdBy }) => createdBy).filter((creator) => creator?.id);
  return {
    type: {
      label: 'Type', operators: is, labelOf: (value) => state.types.find(({ id }) => id === value)?.name,
      choices: async (part) => matching(state.types.map(({ id, name }) => ({ value: id, label: name })), part),
    },
    project: { label: 'Project', operators: is, choices: async (part) => projectChoices(await knownProjects(), part) },
    owner: { label: 'Owner', operators: is, labelOf: ownerLabel, choices: (part) => filterChoices(part, user) },
    tag: {
      label: 'Tag', operators: includes, labelOf: tagLabel,
      choices: chosen(async () => (await load('/api/admin/tags')).tags.map(({ type, value }) => ({ value: `${type}:${value}`, label: tagLabel(`${type}:${value}`) }))),
    },
    status: { label: '', title: 'On or off', operators: is, labelOf: (value) => statuses().find((one) => one.value === value)?.label, choices: async (part) => matching(statuses(), part) },
    stage: { label: 'Stage', operators: is, labelOf: (value) => stageNames[value], choices: async (part) => matching(stages, part) },
    application: {
      label: 'Application', operators: is,
      choices: async (part) => (await load(`/api/admin/metrics/applications?${new URLSearchParams({ query: part, limit: String(mostApplications) })}`)).applications
        .map(({ appName }) => ({ value: appName, label: appName })),
    },
    createdBy: {
      label: 'Created by', operators: is,
      labelOf: (value) => (String(user?.id) === value ? accountName(user) : creators().find(({ id }) => String(id) === value)?.name ?? `User ${value}`),
      choices: (part) => findCreators(part, user, creators(), signal),
    },
    createdAt: { label: 'Created', operators: days, isDay: true },
    lastSeenAt: { label: 'Last used', operators: [...days, { one: 'IS', label: 'never', value: 'never' }], isDay: true },
    segment: {
      label: 'Segment', operators: is,
      choices: chosen(async () => (await (await import('../segment.js')).loadSegments(signal)).map(({ name }) => ({ value: name, label: name }))),
    },
    contextField: {
      label: 'Context field', operators: only, isOne: true,
      choices: chosen(async () => (await load('/api/admin/context')).map(({ name }) => ({ value: name, label: name }))),
    },
    favorite: {
      label: 'Favorite', operators: only, isOne: true, labelOf: (value) => yesOrNo.find((one) => one.value === value)?.label, choices: async (part) => matching(yesOrNo, part),
    },
  };
}

/** A tag in words: the type is left out if it is the default one. */
const tagLabel = (tag) => tag.replace(/^simple:/, '');

/** Who can have created toggles: the user, who created those on the page, and the people whom a text finds. */
async function findCreators(part, user, creators, signal) {
  const people = part.length < fewest || !user ? [] : await findAccounts(part, signal).catch(() => []);
  const all = new Map([
    ...creators.map(({ id, name }) => [id, { value: String(id), label: name }]),
    ...people.map((person) => [person.id, { value: String(person.id), label: accountName(person), detail: person.email ?? undefined }]),
    ...user ? [[user.id, { value: String(user.id), label: accountName(user), detail: 'you' }]] : [],
  ]);
  return matching([...all.values()], part);
}
