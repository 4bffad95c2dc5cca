// The editor of a strategy: a page with a draft, which says in words what the strategy does while one types.

import { call, read } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { apiConstraint, constraintEditor, draftConstraint } from '../constraints.js';
import { dividedError, h, loading, text } from '../dom.js';
import { keepPage, save } from '../draft.js';
import { environmentAddress, environmentName, loadEnvironments } from '../environment.js';
import { merge } from '../merge.js';
import { loadSegments, segmentAddress, segmentNames } from '../segment.js';
import { strategyPath } from '../strategy.js';
import { html, live, nothing, render as show, repeat } from '../template.js';
import { forgetCounts, listAddress, toggleAddress } from '../toggle.js';
import { spread } from '../variants.js';
import { strategyWords, variantWords } from '../words.js';

/** The types that can be created, with their parameters. */
const types = {
  flexibleRollout: { label: 'Gradual rollout', parameters: ['rollout', 'stickiness', 'groupId'] },
  default: { label: 'Everyone', parameters: [] },
  remoteAddress: { label: 'Addresses', parameters: ['IPs'] },
  applicationHostname: { label: 'Hosts', parameters: ['hostNames'] },
};
const labels = {
  name: 'Type', title: 'Title', disabled: 'Disabled', parameters: 'Parameters', constraints: 'Conditions', segments: 'Segments', variants: 'Variants',
};
const payloadTypes = { '': 'No payload', string: 'Text', json: 'JSON', csv: 'CSV', number: 'Number' };
const mostSegments = 5;
let lastKey = 0;

/** @param {{toggle: {project: string, name: string}, environment: string, id: string}} place `id` is `new` for a new strategy */
export async function renderStrategy(content, context, { toggle, environment, id }) {
  const { may, signal, announce, setTitle, setPath } = context;
  const isNew = id === 'new';
  const back = environmentAddress(toggle, environment);
  setTitle(isNew ? 'Add a strategy' : 'Edit the strategy');
  setPath(h('a', { href: '#/toggles' }, 'Toggles'), h('a', { href: listAddress({ project: toggle.project }) }, text(toggle.project)),
    h('a', { href: toggleAddress(toggle) }, text(toggle.name)), h('a', { href: back }, text(environment)));
  if (!may(isNew ? 'CREATE_FEATURE_STRATEGY' : 'UPDATE_FEATURE_STRATEGY')) {
    show(html`<p>You need another role to change strategies.</p>`, content);
    return;
  }
  show(loading('the strategy'), content);
  const path = strategyPath(toggle, environment, isNew ? undefined : id);
  const [environments, fields, segments, opened] = await Promise.all([
    loadEnvironments(signal),
    call('GET', '/api/admin/context', undefined, { signal }),
    loadSegments(signal),
    isNew ? undefined : read(path, { signal }),
  ]);
  const draft = keepPage({ kind: 'strategy', about: path, title: `a strategy of ${toggle.name} in ${environment}` });
  const state = {
    opened, // what the editor began with, and its entity tag
    strategy: editable(draft.values ?? opened?.content ?? newStrategy(toggle)),
    errors: {}, // messages by control
    problem: '',
    requestId: undefined,
    busy: false,
    conflict: null, // {now, taken, both}
  };
  const initial = JSON.stringify(sent(state.strategy));
  const before = opened && strategyWords(opened.content, segmentNames(segments));
  const where = environments.find(({ name }) => name === environment) ?? { name: environment };
  const constraints = constraintEditor(() => fields, (next) => set({ constraints: next }));
  const segmentInput = segmentPicker();
  draw();
  return;

  /** Changes the strategy. */
  function set(changes) {
    state.strategy = { ...state.strategy, ...changes };
    if (JSON.stringify(sent(state.strategy)) === initial) draft.end();
    else draft.keep(state.strategy);
    draw();
  }

  function setParameters(changes) {
    set({ parameters: { ...state.strategy.parameters, ...changes } });
  }

  function setVariants(variants) {
    set({ variants: spread(variants) });
  }

  function draw() {
    const { strategy, busy, problem, requestId } = state;
    const words = strategyWords(sent(strategy), segmentNames(segments));
    show(html`<form class="editor" novalidate aria-label="Strategy" @submit=${submit}>
      <div class="editor-form">
        ${conflict()}
        <fieldset class="choices"><legend>Who</legend>${typeChoices()}</fieldset>
        ${parameters()}
        <fieldset><legend>Segments</legend><div class="chips">
          ${repeat(strategy.segments, (segment) => segment, (segment) => html`<span class="chip"><a href=${segmentAddress(segment)}><bdi>${
    segmentNames(segments)(segment)}</bdi></a><button type="button" aria-label="Remove the segment ${segmentNames(segments)(segment)}"
            @click=${() => set({ segments: strategy.segments.filter((other) => other !== segment) })}>×</button></span>`)}
          ${strategy.segments.length < mostSegments && segments.length > 0 ? segmentInput : nothing}
          ${segments.length === 0 ? html`<span class="detail">There are no segments.</span>` : nothing}
        </div>${error('segments')}</fieldset>
        <fieldset><legend>Conditions</legend><p class="detail">All of them must hold.</p>
          ${constraints(strategy.constraints, constraintErrors())}${error('constraints')}</fieldset>
        ${strategy.name === 'flexibleRollout' ? variants() : nothing}
        <fieldset><legend>More</legend><div class="pair">
          ${strategy.name === 'flexibleRollout' ? input('groupId', 'Group id', strategy.parameters.groupId ?? toggle.name,
    (value) => setParameters({ groupId: value }), 'Toggles with the same group id select the same users.') : nothing}
          ${input('title', 'Title', strategy.title ?? '', (value) => set({ title: value }))}</div>
          <label class="check"><input type="checkbox" .checked=${live(strategy.disabled)} @change=${({ target }) => set({ disabled: target.checked })}> Disabled</label>
        </fieldset>
      </div>
      <aside aria-label="In words">
        <h2>In words</h2>
        <p><bdi>${words}</bdi></p>
        ${strategy.name === 'flexibleRollout' && strategy.variants.length > 0 ? html`<p class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></p>` : nothing}
        ${before && before !== words ? html`<p class="detail">Before: <bdi>${before}</bdi></p>` : nothing}
        ${strategy.disabled ? html`<p class="detail">Disabled: it takes no part.</p>` : nothing}
        <p class="error" role="alert">${problem}${requestId ? html` <small>Request ID: <code>${requestId}</code></small>` : nothing}</p>
        <div class="buttons">
          <button type="submit" class="primary" aria-disabled=${busy ? 'true' : nothing} aria-busy=${busy ? 'true' : nothing}>${
    busy ? 'Saving…' : html`Save to ${environmentName(where)}`}</button>
          <a class="button" href=${back} @click=${draft.end}>Cancel</a>
        </div>
      </aside>
    </form>`, content);
  }

  function error(name) {
    return state.errors[name] ? html`<p class="error" id="${name}-error">${state.errors[name]}</p>` : nothing;
  }

  function input(name, label, value, change, hint) {
    const message = state.errors[name];
    const described = [message && `${name}-error`, hint && `${name}-hint`].filter(Boolean).join(' ');
    return html`<div class="field"><label for=${name}>${label}</label>
      <input id=${name} name=${name} autocomplete="off" spellcheck="false" dir="auto" aria-invalid=${message ? 'true' : nothing}
        aria-describedby=${described || nothing} .value=${live(value)} @input=${({ target }) => change(target.value)}>
      ${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing}${error(name)}</div>`;
  }

  function typeChoices() {
    const { name } = state.strategy;
    const all = name in types ? types : { ...types, [name]: { label: name } };
    return Object.entries(all).map(([type, { label }]) => html`<label><input type="radio" name="type" .checked=${live(type === name)}
      @change=${() => set({ name: type, parameters: withDefaults(type, state.strategy.parameters, toggle) })}> ${label}</label>`);
  }

  function parameters() {
    const { name, parameters: { rollout = '100', stickiness = 'default', IPs = '', hostNames = '' } } = state.strategy;
    if (name === 'remoteAddress') return input('IPs', 'Addresses', IPs, (value) => setParameters({ IPs: value }), 'Addresses and networks, separated by commas: 10.0.0.1, 10.1.0.0/16');
    if (name === 'applicationHostname') return input('hostNames', 'Host names', hostNames, (value) => setParameters({ hostNames: value }), 'Separated by commas.');
    if (name !== 'flexibleRollout') return nothing;
    const sticky = { default: 'userId, or sessionId', userId: 'userId', sessionId: 'sessionId', random: 'chance, each time' };
    for (const field of fields) if (field.stickiness) sticky[field.name] ??= field.name;
    sticky[stickiness] ??= stickiness;
    return html`<div class="field reach">
      <label for="rollout">Reach</label>
      <input type="range" id="rollout" min="0" max="100" step="1" .value=${live(rollout)} aria-valuetext="${rollout} %"
        @input=${({ target }) => setParameters({ rollout: target.value })}>
      <span class="percent"><input aria-label="Percent" inputmode="numeric" .value=${live(rollout)} aria-invalid=${state.errors.rollout ? 'true' : nothing}
        aria-describedby=${state.errors.rollout ? 'rollout-error' : nothing} @input=${({ target }) => setParameters({ rollout: target.value.trim() })}> %</span>
      <label>by <select aria-label="Stickiness" @change=${({ target }) => setParameters({ stickiness: target.value })}>${Object.entries(sticky).map(([value, label]) => html`
        <option .value=${value} .selected=${live(value === stickiness)}>${label}</option>`)}</select></label>
      ${error('rollout')}${error('stickiness')}</div>`;
  }

  function segmentPicker() {
    const control = h('input', { placeholder: 'Choose a segment', 'aria-label': 'Add a segment' });
    const box = combobox(control, {
      choices: (typed) => matching(segments.filter((segment) => !state.strategy.segments.includes(segment.id))
        .map((segment) => ({ value: String(segment.id), label: segment.name, detail: segment.description ?? undefined })), typed),
      choose: (value) => {
        if (value === '') return;
        box.set('');
        set({ segments: [...state.strategy.segments, Number(value)].sort((a, b) => a - b) });
      },
    });
    return box.element;
  }

  function constraintErrors() {
    return Object.fromEntries(Object.entries(state.errors).filter(([name]) => name.startsWith('constraint ')).map(([name, message]) => [name.slice(11), message]));
  }

  function variants() {
    const all = state.strategy.variants;
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
      <button type="button" @click=${() => setVariants([...all, newVariant(all)])}>Add variant</button>${error('variants')}</fieldset>`;
  }

  /** What someone else has changed since the editor was opened. */
  function conflict() {
    if (!state.conflict) return nothing;
    const { now, taken, both } = state.conflict;
    return html`<div class="notice warn" role="alert">
      <p><strong>Someone has changed it since you opened it.</strong> Nothing was saved, and your input is still here.</p>
      ${taken.length > 0 ? html`<p>Taken over, because you have not changed it: ${taken.map((name) => labels[name]).join(', ')}.</p>` : nothing}
      ${both.length > 0 ? html`<ul>${both.map((name) => html`<li>${labels[name]} was changed by both.
        <button type="button" @click=${() => takeTheirs(name, now)}>Take theirs</button></li>`)}</ul>` : nothing}
      <p>Now it is: <bdi>${strategyWords(now, segmentNames(segments))}</bdi>. Save again to replace it with what this page shows.</p></div>`;
  }

  function takeTheirs(name, now) {
    state.conflict.both = state.conflict.both.filter((other) => other !== name);
    set({ [name]: editable(now)[name] });
  }

  async function submit(event) {
    event.preventDefault();
    if (state.busy) return;
    Object.assign(state, { busy: true, problem: '', requestId: undefined, errors: {} });
    draw();
    try {
      await send();
    } catch (failure) {
      if (signal.aborted) return;
      const { byControl, rest } = dividedError(failure, controlOf);
      Object.assign(state, { errors: byControl, problem: rest, requestId: rest && failure.id });
    }
    state.busy = false;
    draw();
    content.querySelector('[aria-invalid]')?.focus();
  }

  async function send() {
    const body = sent(state.strategy);
    if (isNew) await call('POST', path, body);
    else {
      const { now } = await save(path, body, state.opened, labels);
      if (now) {
        const { merged, taken, both } = merge(sent(editable(state.opened.content)), body, sent(editable(now.content)), Object.keys(labels));
        Object.assign(state, { opened: now, conflict: { now: now.content, taken, both } });
        state.strategy = editable(merged);
        return;
      }
    }
    forgetCounts();
    draft.end();
    announce(`Saved to ${environment}.`);
    window.location.hash = back;
  }
}

/** The name of the control that shows an error, for a pointer into the body. */
function controlOf(pointer) {
  const [property, index] = pointer.split('/');
  if (property === 'constraints') return index === undefined ? 'constraints' : `constraint ${index}`;
  if (property === 'parameters') return ['rollout', 'stickiness', 'groupId', 'IPs', 'hostNames'].includes(index) ? index : undefined;
  return ['title', 'segments', 'variants'].includes(property) ? property : undefined;
}

const newStrategy = (toggle) => ({
  name: 'flexibleRollout', title: null, disabled: false, parameters: withDefaults('flexibleRollout', {}, toggle), constraints: [], segments: [], variants: [],
});

/** The parameters of a type. Those that another type has too stay. */
function withDefaults(type, parameters, toggle) {
  const defaults = { rollout: '100', stickiness: 'default', groupId: toggle.name, IPs: '', hostNames: '' };
  return Object.fromEntries((types[type]?.parameters ?? Object.keys(parameters)).map((name) => [name, parameters[name] ?? defaults[name]]));
}

/** The strategy as the editor keeps it: constraints and variants have keys. */
const editable = ({ name, title, disabled, parameters, constraints, segments, variants }) => ({
  name, title, disabled, parameters, segments, constraints: constraints.map(draftConstraint), variants: variants.map(keyed),
});

const keyed = (variant) => {
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

/** The body of the request that saves a strategy. */
function sent({ name, title, disabled, parameters, constraints, segments, variants }) {
  return {
    name,
    title: title || null,
    disabled,
    parameters,
    constraints: constraints.map(apiConstraint),
    segments,
    variants: name !== 'flexibleRollout' ? [] : variants.map(({ name: variant, weight, weightType, payload }) => ({
      name: variant, weight, weightType, ...payload && { payload } })),
  };
}
