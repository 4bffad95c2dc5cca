// The editor of a strategy: a page with a draft, which says in words what the strategy does while one types.

import { call, read } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { apiConstraint, constraintEditor, draftConstraint } from '../constraints.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { loading, text } from '../dom.js';
import { editResource } from '../editor.js';
import { environmentAddress, environmentName, loadEnvironments, namedEnvironment } from '../environment.js';
import { menu } from '../menu.js';
import { projectPath } from '../project.js';
import { loadState } from '../restore.js';
import { loadSegments, segmentAddress, segmentNames, segmentsPath } from '../segment.js';
import { strategyLabels as labels, strategyPath } from '../strategy.js';
import { element, html, live, nothing, render as show, repeat } from '../template.js';
import { listAddress, newestChange, toggleAddress } from '../toggle.js';
import { labelFor, wayOf } from '../why.js';
import { constraintWords, strategyWords, variantWords } from '../words.js';
import { refusal } from './explanation.js';
import { saveStrategy } from './strategy-saving.js';
import { strategyTrial } from './strategy-trial.js';
import { keyed, variantEditor } from './strategy-variants.js';

/** The types that can be created, with their parameters. */
const types = {
  flexibleRollout: { label: 'Gradual rollout', parameters: ['rollout', 'stickiness', 'groupId'] },
  default: { label: 'Everyone', parameters: [] },
  remoteAddress: { label: 'Addresses', parameters: ['IPs'] },
  applicationHostname: { label: 'Hosts', parameters: ['hostNames'] },
};
const mostSegments = 5;

/**
 * @param {Element} content
 * @param {Object} context of the page
 * @param {{toggle: {project: string, name: string}, environment: string, id: string}} place `id` is `new` for a new strategy
 */
export async function renderStrategy(content, context, { toggle, environment, id }) {
  const { may, learnAsking, signal, announce, setTitle, setPath } = context;
  const isNew = id === 'new';
  const back = environmentAddress(toggle, environment);
  setTitle(isNew ? 'Add a strategy' : 'Edit the strategy');
  setPath(html`<a href="#/toggles">Toggles</a>`, html`<a href=${listAddress({ project: toggle.project })}>${text(toggle.project)}</a>`,
    html`<a href=${toggleAddress(toggle)}>${text(toggle.name)}</a>`, html`<a href=${back}>${text(environment)}</a>`);
  const permission = isNew ? 'CREATE_FEATURE_STRATEGY' : 'UPDATE_FEATURE_STRATEGY';
  const need = (of, name) => ({
    permission: of, project: toggle.project, environment: name, places: [{ project: toggle.project, environment: { name } }],
    to: `${isNew ? 'add' : 'edit'} strategies of ${toggle.name} in ${name}`,
  });
  show(loading('the strategy'), content);
  await learnAsking([toggle.project]);
  const way = wayOf(need(permission, environment), context);
  if (way === '') {
    show(refusal(need(permission, environment), context), content);
    return;
  }
  const path = strategyPath(toggle, environment, isNew ? undefined : id);
  const [environments, state, fields, segments, project, opened] = await Promise.all([
    loadEnvironments(signal),
    loadState(toggle, environment, signal),
    call('GET', '/api/admin/context', undefined, { signal }),
    loadSegments(signal),
    isNew ? call('GET', `${projectPath(toggle.project)}/overview`, undefined, { signal }).catch(() => null) : null,
    isNew ? undefined : read(path, { signal }),
  ]);
  const edit = editResource({
    path,
    opened,
    initial: newStrategy(toggle, project?.defaultStickiness),
    draft: { kind: 'strategy', title: `a strategy of ${toggle.name} in ${environment}` },
    labels,
    toDraft: editable,
    toBody: sent,
    controlOf,
    confirm: (saving) => saveStrategy({ toggle, environment: where, id: isNew ? undefined : id, body: edit.body(), copyTo, saving, leave }, context),
    author: async () => (await newestChange(toggle)).createdBy,
    draw,
    saved: () => {},
    signal,
  });
  const { set } = edit;
  const isLastEnabled = state.enabled && state.strategies.every((other) => other.disabled || other.id === id);
  const before = opened && strategyWords(opened.content, segmentNames(segments));
  const where = namedEnvironment(environments, environment);
  const constraints = constraintEditor(() => fields, (next) => set({ constraints: next }), announce);
  const segmentInput = segmentPicker();
  const others = environments.filter(({ name }) => name !== environment && wayOf(need('CREATE_FEATURE_STRATEGY', name), context) !== '');
  let copyTo = null; // the environment that gets a copy of what is saved
  const trial = strategyTrial(edit, fields, segments, draw);
  draw();
  return;

  function setParameters(changes) {
    set({ parameters: { ...edit.state.values.parameters, ...changes } });
  }

  function draw() {
    const { values: strategy } = edit.state;
    const words = strategyWords(edit.body(), segmentNames(segments));
    show(html`<form class="editor" novalidate aria-label="Strategy" @submit=${(event) => save(event)}>
      <div class="editor-form">
        ${edit.conflict(valueWords)}
        <fieldset class="choices"><legend>Who</legend>${typeChoices()}</fieldset>
        ${parameters()}
        <fieldset><legend>Segments</legend><div class="chips">
          ${repeat(strategy.segments, (segment) => segment, (segment) => html`<span class="chip">${segments.some(({ id: known }) => known === segment)
    ? html`<a href=${segmentAddress(segment)}><bdi>${segmentNames(segments)(segment)}</bdi></a>` : html`<span title="You do not see its project. Who removes it cannot add it again.">${segmentNames(segments)(segment)}</span>`}<button type="button" aria-label="Remove the segment ${segmentNames(segments)(segment)}"
            @click=${() => set({ segments: strategy.segments.filter((other) => other !== segment) })}>×</button></span>`)}
          ${strategy.segments.length < mostSegments && segments.length > 0 ? segmentInput : nothing}
          ${segments.length === 0 ? html`<span class="detail">There are no segments.</span>` : nothing}
        </div>${edit.error('segments')}</fieldset>
        <fieldset><legend>Conditions</legend><p class="detail">All of them must hold.</p>
          ${constraints(strategy.constraints, edit.constraintErrors())}${strategy.constraints.length > 0 && strategy.segments.length < mostSegments && may('CREATE_SEGMENT') ? html`
            <button type="button" @click=${openSegment}>Make a segment of these</button>` : nothing}${edit.error('constraints')}</fieldset>
        ${strategy.name === 'flexibleRollout' ? variantEditor(edit) : nothing}
        <fieldset><legend>More</legend><div class="pair">
          ${strategy.name === 'flexibleRollout' ? parameter('groupId', 'Group id', toggle.name, 'Toggles with the same group id select the same users.') : nothing}
          ${edit.input({ name: 'title', label: 'Title', value: strategy.title ?? '', change: (value) => set({ title: value }) })}</div>
          <label class="check"><input type="checkbox" .checked=${live(strategy.disabled)} @change=${({ target }) => set({ disabled: target.checked })}> Disabled</label>
        </fieldset>
      </div>
      <aside aria-label="In words">
        <h2>In words</h2>
        <p><bdi>${words}</bdi></p>
        ${strategy.name === 'flexibleRollout' && strategy.variants.length > 0 ? html`<p class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></p>` : nothing}
        ${before && before !== words ? html`<p class="detail">Before: <bdi>${before}</bdi></p>` : nothing}
        ${strategy.disabled ? html`<p class="detail">Disabled: it takes no part.</p>` : nothing}
        ${strategy.disabled && isLastEnabled ? html`<p class="notice warn">It is the last one that is enabled: the toggle is turned off in ${environmentName(where)}.</p>` : nothing}
        ${edit.problem()}
        <div class="buttons">${edit.saveButton(labelFor(way, html`Save to ${environmentName(where)}`))}
          ${copies()}
          <a class="button" href=${back} @click=${edit.cancel}>Cancel</a>
        </div>
        ${trial()}
      </aside>
    </form>`, content);
  }

  function typeChoices() {
    const { name } = edit.state.values;
    const all = name in types ? types : { ...types, [name]: { label: name } };
    return Object.entries(all).map(([type, { label }]) => html`<label><input type="radio" name="type" .checked=${live(type === name)}
      @change=${() => set({ name: type, parameters: withDefaults(type, edit.state.values.parameters, toggle) })}> ${label}</label>`);
  }

  function parameters() {
    const { name, parameters: { rollout = '100', stickiness = 'default' } } = edit.state.values;
    if (name === 'remoteAddress') return parameter('IPs', 'Addresses', '', 'Addresses and networks, separated by commas: 10.0.0.1, 10.1.0.0/16');
    if (name === 'applicationHostname') return parameter('hostNames', 'Host names', '', 'Separated by commas.');
    if (name !== 'flexibleRollout') return nothing;
    const sticky = { default: 'userId, or sessionId', userId: 'userId', sessionId: 'sessionId', random: 'chance, each time' };
    for (const { name: of, stickiness: isSticky } of fields) if (isSticky) sticky[of] ??= of;
    sticky[stickiness] ??= stickiness;
    return html`<div class="field reach">
      <label for="rollout">Reach</label>
      <input type="range" id="rollout" min="0" max="100" step="1" .value=${live(rollout)} aria-valuetext="${rollout} %"
        @input=${({ target }) => setParameters({ rollout: target.value })}>
      <span class="percent"><input aria-label="Percent" inputmode="numeric" .value=${live(rollout)} aria-invalid=${edit.state.errors.rollout ? 'true' : nothing}
        aria-describedby=${edit.state.errors.rollout ? 'rollout-error' : nothing} @input=${({ target }) => setParameters({ rollout: target.value.trim() })}> %</span>
      <label>by <select aria-label="Stickiness" @change=${({ target }) => setParameters({ stickiness: target.value })}>${Object.entries(sticky).map(([value, label]) => html`
        <option .value=${value} .selected=${live(value === stickiness)}>${label}</option>`)}</select></label>
      ${edit.error('rollout')}${edit.error('stickiness')}</div>`;
  }

  /** A value of the strategy in words. */
  function valueWords(property, value) {
    switch (property) {
      case 'name': return types[value]?.label;
      case 'parameters': return [strategyWords({ name: edit.state.values.name, parameters: value, segments: [], constraints: [] }, String),
        value.groupId && value.groupId !== toggle.name && `group id ${value.groupId}`].filter(Boolean).join(', ');
      case 'segments': return value.map(segmentNames(segments)).join(', ') || 'none';
      case 'variants': return variantWords(value) || 'none';
      default: return undefined;
    }
  }

  /** An input for a parameter of the type. */
  function parameter(name, label, initial, hint) {
    const value = edit.state.values.parameters[name] ?? initial;
    return edit.input({ name, label, hint, value, change: (entered) => setParameters({ [name]: entered }) });
  }

  function segmentPicker() {
    const control = element(html`<input placeholder="Choose a segment" aria-label="Add a segment">`);
    const box = combobox(control, {
      choices: (typed) => matching(segments.filter((segment) => !edit.state.values.segments.includes(segment.id))
        .map((segment) => ({ value: String(segment.id), label: segment.name, detail: segment.description ?? undefined })), typed),
      choose: (value) => {
        if (value === '') return;
        box.set('');
        set({ segments: [...edit.state.values.segments, Number(value)].sort((a, b) => a - b) });
      },
    });
    return box.element;
  }

  /** Saves the strategy. `to` is an environment that gets a copy. */
  function save(event, to = null) {
    copyTo = to;
    edit.submit(event);
  }

  /** The buttons that save it, and copy it to another environment. */
  function copies() {
    if (others.length === 0) return nothing;
    if (others.length > 1) return menu('', 'menu-copy', others.map((other) => ({ label: other.name, action: () => save(new Event('submit'), other) })), 'Save and copy to');
    return html`<button type="button" @click=${(event) => save(event, others[0])}>Save and copy to ${others[0].name}</button>`;
  }

  function leave() {
    edit.cancel();
    window.location.hash = back;
  }

  /** Asks for the name of a segment that gets the conditions of the strategy. */
  function openSegment() {
    const name = element(html`<input name="name" autocomplete="off" required>`);
    const dialog = openDialog('Make a segment of these conditions', () => [
      html`<p>${text(edit.body().constraints.map(constraintWords).join(' and '))}</p>`,
      form({
        submit: 'Create segment', busy: 'Creating…', cancel: () => dialog.close(),
        async send() {
          if (name.value.trim() === '') throw new FieldError('name', 'Enter a name.');
          const { constraints: moved } = edit.body();
          const segment = await call('POST', segmentsPath, { name: name.value.trim(), constraints: moved });
          segments.push(segment);
          dialog.close();
          set({ constraints: [], segments: [...edit.state.values.segments, segment.id].sort((a, b) => a - b) });
          announce(`Segment ${segment.name} created. Save the strategy to use it.`);
        },
      }, field('Name', name, 'Other strategies can use the segment, too.')),
    ]);
    name.focus();
  }
}

/** The name of the control that shows an error, for a place in the body. */
function controlOf(place) {
  const [property, index] = place.split('/');
  if (property === 'constraints') return index === undefined ? 'constraints' : `constraint ${index}`;
  if (property === 'parameters') return ['rollout', 'stickiness', 'groupId', 'IPs', 'hostNames'].includes(index) ? index : undefined;
  return ['title', 'segments', 'variants'].includes(property) ? property : undefined;
}

const newStrategy = (toggle, stickiness = 'default') => ({
  name: 'flexibleRollout', title: null, disabled: false, parameters: withDefaults('flexibleRollout', { stickiness }, toggle), constraints: [], segments: [], variants: [],
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
