// The playground: which toggles are on for a context, and why. The address has the input.

import { call } from '../api.js';
import { copyText } from '../clipboard.js';
import { settled } from '../combobox.js';
import { fixedFields } from '../constraints.js';
import { counted, failure, loading } from '../dom.js';
import { environmentAddress, environmentName, loadEnvironments } from '../environment.js';
import { projectInput } from '../project.js';
import { mark, reasonList } from '../reasons.js';
import { matcher } from '../search.js';
import { html, live, nothing, render as show, repeat } from '../template.js';
import { resultReason, strategyReasons, strategyWords } from '../words.js';
import { contextTables, evaluateAll, loadSample, neededFields, readContexts, sampleWords, sdkCode, verdict } from './playground-results.js';

const pageSize = 50;
const mostExplained = 20; // toggles whose fields are offered
let lastKey = 0;

export async function render(content, { search, signal, announce }) {
  show(loading('the playground'), content);
  const [environments, fields] = await Promise.all([loadEnvironments(signal), call('GET', '/api/admin/context', undefined, { signal })]);
  const names = [...new Set([...fixedFields, ...fields.map(({ name }) => name)])];
  const chosen = search.getAll('environment').filter((name) => environments.some((environment) => environment.name === name));
  const state = {
    environments: chosen.length > 0 ? chosen : environments.map(({ name }) => name),
    project: search.get('project') ?? '',
    query: search.get('toggle') ?? '',
    context: search.getAll('field').map((text) => entry(...split(text))),
    result: null, // the toggles with their environments
    shown: pageSize,
    open: new Set(), // toggles whose reasons are shown
    samples: new Map(), // of toggles by their name, for the context of the result
    text: search.get('contexts') ?? '', // several contexts
    compared: null, // {contexts, results}
    busy: false,
    error: null,
  };
  if (state.context.length === 0) state.context = [entry('userId', '')];
  const project = projectInput(state.project, (value) => { state.project = value; });
  draw();
  if (search.size > 0) await evaluate();

  function draw() {
    show(html`
      <p class="lead">Which toggles are on for a user, and why. The address of this page contains the input, so you can share it.</p>
      <form class="playground" aria-label="Context" @submit=${submit}>
        <fieldset class="choices"><legend>Environments</legend>${environments.map((environment) => html`<label class="check"><input type="checkbox"
          .checked=${live(state.environments.includes(environment.name))} @change=${({ target }) => choose(environment.name, target.checked)}>
          <span>${environmentName(environment)}</span></label>`)}</fieldset>
        <div class="pair"><div class="field"><label for=${project.input.id}>Project</label>${project.element}</div>
          <div class="field"><label for="toggle-query">Toggles</label><input id="toggle-query" type="search" placeholder="All" autocomplete="off" spellcheck="false"
            .value=${live(state.query)} @input=${({ target }) => { state.query = target.value; state.shown = pageSize; keep(); draw(); }}></div></div>
        <fieldset><legend>Context</legend>
          <ul class="context">${repeat(state.context, ({ key }) => key, row)}</ul>
          <div class="buttons"><button type="button" @click=${() => addField()}>Add field</button>${needed()}</div>
          <details ?open=${state.text !== ''}><summary>Several contexts</summary>
            <div class="field"><label for="contexts">Contexts</label><textarea id="contexts" rows="4" spellcheck="false" dir="auto" placeholder="userId,plan&#10;7,pro&#10;8,free"
              aria-describedby="contexts-hint" .value=${live(state.text)} @input=${({ target }) => { state.text = target.value; }}></textarea>
            <p class="hint" id="contexts-hint">The first line has the names of fields, and each other line a context, as CSV or pasted from a spreadsheet. The fields above are the same for all.</p></div>
          </details></fieldset>
        <div class="buttons"><button type="submit" class="primary" aria-disabled=${state.busy ? 'true' : nothing} aria-busy=${state.busy ? 'true' : nothing}>${
    state.busy ? 'Evaluating…' : 'Evaluate'}</button>
          <button type="button" @click=${() => { keep(); copyText(window.location.href, 'Link copied. It contains the input.', announce); }}>Copy link</button>
          ${state.result ? html`<button type="button" @click=${() => copyText(sdkCode(body().context, shownToggles().map(({ name }) => name)), 'Code for Node.js copied.', announce)}>Copy as SDK code</button>` : nothing}</div>
      </form>
      ${state.error ? failure(state.error) : state.compared ? contextTables(state.compared, matcher(state.query), shownEnvironments()) : state.result ? results() : nothing}`, content);
  }

  function row({ key, name, value }, i) {
    const all = [...new Set([...names, name])];
    const legal = fields.find((field) => field.name === name)?.legalValues ?? [];
    const update = (changes) => {
      state.context = state.context.map((other) => (other.key === key ? { ...other, ...changes } : other));
      draw();
    };
    return html`<li><div role="group" aria-label="Field ${i + 1}">
      <select aria-label="Name of field ${i + 1}" @change=${({ target }) => update({ name: target.value })}>${all.map((item) => html`
        <option .value=${item} .selected=${live(item === name)}>${item}</option>`)}</select>
      <input aria-label="Value of field ${i + 1}" autocomplete="off" spellcheck="false" dir="auto" list=${legal.length > 0 ? `legal-${key}` : nothing}
        placeholder=${name === 'currentTime' ? '2026-12-24T18:00:00Z' : 'Not set'} .value=${live(value)} @input=${({ target }) => update({ value: target.value })}>
      ${legal.length > 0 ? html`<datalist id="legal-${key}">${legal.map((item) => html`<option value=${item.value}></option>`)}</datalist>` : nothing}
      <button type="button" @click=${() => { state.context = state.context.filter((other) => other.key !== key); draw(); }}>Remove<span
        class="visually-hidden"> field ${i + 1}</span></button></div></li>`;
  }

  /** The environments that were evaluated. */
  function shownEnvironments() {
    return environments.filter(({ name }) => state.evaluated.includes(name));
  }

  function shownToggles() {
    const matches = matcher(state.query);
    return (state.result ?? []).filter(({ name }) => matches(name));
  }

  /** Buttons that add the fields that decide about the toggles. */
  function needed() {
    const toggles = shownToggles();
    if (toggles.length > mostExplained) return nothing;
    const used = state.context.map(({ name }) => name);
    return neededFields(toggles).filter((name) => !used.includes(name)).map((name) => html`<button type="button" @click=${() => addField(name)}>Add ${name}</button>`);
  }

  function results() {
    const toggles = shownToggles();
    return html`<section class="results" aria-label="Results">
      <p class="detail" role="status">${toggles.length === 0 ? 'No toggles' : counted(toggles.length, 'toggle')}</p>
      ${toggles.length === 0 ? nothing : html`<table role="table" class="outcomes">
        <caption class="visually-hidden">Toggles for the context</caption>
        <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Toggle</th>${shownEnvironments().map((environment) => html`
          <th role="columnheader" scope="col">${environmentName(environment)}</th>`)}<th role="columnheader" scope="col">Why</th></tr></thead>
        <tbody role="rowgroup">${repeat(toggles.slice(0, state.shown), ({ name }) => name, (toggle) => outcome(toggle, shownEnvironments()))}</tbody>
      </table>`}
      ${toggles.length > state.shown ? html`<p><button type="button" @click=${() => { state.shown += pageSize; draw(); }}>Show more</button></p>` : nothing}
    </section>`;
  }

  function outcome({ name, projectId, environments: byName }, columns) {
    const isOpen = state.open.has(name);
    const id = `why-${name}`;
    const has = columns.filter(({ name: environment }) => byName[environment]); // the project can lack others
    const first = (environment) => byName[environment.name][0];
    return html`<tr role="row">
      <th role="rowheader" scope="row"><a href=${environmentAddress({ project: projectId, name }, has[0].name)}><bdi>${name}</bdi></a></th>
      ${columns.map((environment) => {
    if (!has.includes(environment)) return html`<td role="cell"></td>`;
    return html`<td role="cell" data-label=${environment.name}>${verdict(first(environment))}</td>`;
  })}
      <td role="cell" class="actions"><button type="button" aria-expanded=${isOpen ? 'true' : 'false'} aria-controls=${isOpen ? id : nothing}
        @click=${() => { if (isOpen) state.open.delete(name); else state.open.add(name); draw(); }}>Why<span class="visually-hidden"> ${name}</span></button></td>
    </tr>
    ${isOpen ? html`<tr role="row" id=${id} class="why"><td role="cell" colspan=${columns.length + 2}>${has.map((environment) => why(environment, first(environment)))}
      <button type="button" @click=${() => sample({ name, projectId })}>Try 1,000 random users</button></td></tr>` : nothing}`;
  }

  function why(environment, result) {
    const words = (strategy) => strategyWords({ ...strategy, segments: strategy.segments.map((_, i) => i) }, (i) => strategy.segments[i].name);
    return html`<section aria-label=${environment.name}><h2>${environmentName(environment)}: ${result.isEnabled ? 'on' : 'off'}</h2>
      <p>${resultReason(result)}</p>
      ${state.samples.has(result.name) ? html`<p role="status">${sampleWords(state.samples.get(result.name)[environment.name], result.isEnabledInCurrentEnvironment)}</p>` : nothing}
      <ol>${result.strategies.data.map((strategy) => html`<li>${mark(strategy.result.enabled === true)} <bdi>${strategy.title ?? words(strategy)}</bdi>
        ${reasonList(strategyReasons(strategy))}</li>`)}</ol></section>`;
  }

  function choose(name, isChosen) {
    state.environments = environments.map((environment) => environment.name)
      .filter((other) => (other === name ? isChosen : state.environments.includes(other)));
    draw();
  }

  /** Adds a field: one that decides about the toggles, or one to choose. */
  function addField(wanted) {
    const used = state.context.map(({ name }) => name);
    state.context = [...state.context, entry(wanted ?? names.find((name) => !used.includes(name)) ?? names[0], '')];
    draw();
    [...content.querySelectorAll(wanted ? '.context input' : '.context select')].at(-1).focus();
  }

  async function sample(toggle) {
    try {
      state.samples.set(toggle.name, await loadSample(toggle, state.asked, signal));
    } catch (error) {
      if (signal.aborted) return;
      announce(error.message);
    }
    draw();
  }

  /** Keeps the input in the address. */
  function keep() {
    const parameters = new URLSearchParams();
    for (const name of state.environments) parameters.append('environment', name);
    if (state.project) parameters.append('project', state.project);
    if (state.query) parameters.append('toggle', state.query);
    for (const { name, value } of state.context) if (value !== '') parameters.append('field', `${name}=${value}`);
    if (state.text !== '') parameters.append('contexts', state.text);
    window.history.replaceState(null, '', `#/playground?${parameters}`);
  }

  async function submit(event) {
    event.preventDefault();
    if (!state.busy && await settled(event.target)) await evaluate();
  }

  async function evaluate() {
    if (state.environments.length === 0) {
      Object.assign(state, { error: new Error('Choose an environment.'), result: null, compared: null });
      draw();
      return;
    }
    keep();
    Object.assign(state, { busy: true, error: null });
    draw();
    try {
      const asked = body();
      const contexts = state.text.trim() === '' ? null : readContexts(state.text);
      const all = await evaluateAll(contexts?.map((context) => body(context)) ?? [asked], signal);
      state.samples.clear();
      Object.assign(state, { asked, result: all[0], compared: contexts && { contexts, results: all }, evaluated: state.environments, shown: pageSize });
    } catch (error) {
      if (signal.aborted) return;
      Object.assign(state, { error, result: null, compared: null });
    }
    state.busy = false;
    draw();
  }

  /** The request, with other fields of a context. */
  function body(others = {}) {
    const context = { properties: {} };
    for (const [name, value] of [...state.context.map((field) => [field.name, field.value]), ...Object.entries(others)]) {
      if (value === '') continue;
      if (fixedFields.includes(name)) context[name] = value;
      else context.properties[name] = value;
    }
    return { environments: state.environments, projects: state.project ? [state.project] : '*', context };
  }
}

/** A field of the context with a key, which a row keeps. */
function entry(name, value) {
  lastKey += 1;
  return { key: lastKey, name, value };
}

/** The name and the value of a field in the address. */
function split(text) {
  const i = text.indexOf('=');
  return i < 0 ? [text, ''] : [text.slice(0, i), text.slice(i + 1)];
}
