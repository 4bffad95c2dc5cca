// Connect an SDK: a token, code for a language, and whether the first request has arrived. The address has the choices; the secret is only
// in the memory of the page.

import { call } from '../api.js';
import { clientUrl, connectAddress, isSecretOf, kinds, loadTokens, projectNames, tokensPath, tryUrl } from '../client-token.js';
import { combobox, matching, settled } from '../combobox.js';
import { dividedError } from '../dialog.js';
import { loading, setError } from '../dom.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { knownProjects, projectChoices } from '../project.js';
import { loadExamples, sdks, stepsOf } from '../sdks.js';
import { tryCommand } from '../secret.js';
import { element, html, live, nothing, render as show } from '../template.js';
import { relativeTime } from '../time.js';
import { searchToggles } from '../toggle.js';

const pause = 3000; // between two looks for the first request, in milliseconds
const patience = 60_000; // after which the page says what may be wrong
const end = 600_000; // after which it does not look any more
/** The choice of a token that contains the toggles of all projects. */
const allProjects = { value: '*', label: 'All projects', detail: 'also those that are created later' };
/** What names of applications may contain, so that they need no escape in code. */
const appPattern = /^[\w .-]{1,100}$/;

export async function render(content, { may, search, signal, setTitle, setPath }) {
  setTitle('Connect an SDK');
  setPath(html`<a href="#/api-tokens">API tokens</a>`);
  if (!clientUrl) {
    show(html`<p class="notice">This deployment has no URL for applications. An administrator can deploy it with the parameter <code>ClientApi</code>.</p>`, content);
    return;
  }
  show(loading('the environments'), content);
  const [environments, examples] = await Promise.all([loadEnvironments(signal), loadExamples(signal)]);
  const given = (name, all, otherwise) => (all.includes(search.get(name)) ? search.get(name) : otherwise);
  const mayCreate = may('CREATE_CLIENT_API_TOKEN');
  const state = {
    sdk: given('sdk', Object.keys(sdks), 'node'),
    environment: given('environment', environments.map(({ name }) => name), environments[0]?.name),
    project: search.get('project') ?? '', // '' until one is chosen
    app: search.get('app') ?? 'my-app',
    source: mayCreate ? given('token', ['new', 'existing'], 'new') : 'existing',
    typed: '', // an existing secret
    busy: false,
    errors: {}, // by the control
    connection: null, // {secret, kind, isNew, token, toggle, since, problem, ended}; token is that of the list
    copied: null, // the label of what was copied
  };
  const { input: project, box } = projectChoice(state.project, (value) => update({ project: value }));
  draw();

  function draw() {
    const { kind } = sdks[state.sdk];
    show(html`
      <p class="lead">From an SDK to the first evaluated toggle. You get a token and code that is ready to run.</p>
      <form class="connect" aria-label="Application" novalidate @submit=${submit}>
        <fieldset class="choices"><legend>SDK</legend>${Object.entries(sdks).map(([value, { name }]) => html`<label class="check"><input type="radio" name="sdk"
          .checked=${live(state.sdk === value)} @change=${() => update({ sdk: value })}> ${name}</label>`)}</fieldset>
        <p class="kind"><strong>${kinds[kind].name} token.</strong> ${kinds[kind].about}</p>
        ${mayCreate ? html`<fieldset class="choices"><legend>Token</legend>
          ${source('new', 'Create a token')}${source('existing', 'Use an existing token')}</fieldset>` : nothing}
        ${control('app', 'Name of the application', html`<input id="app" autocomplete="off" spellcheck="false" .value=${live(state.app)}
          aria-invalid=${state.errors.app ? 'true' : nothing} aria-describedby=${state.errors.app ? 'app-error' : nothing} @input=${({ target }) => update({ app: target.value })}>`)}
        ${state.source === 'new' ? html`<div class="pair">
          ${control('environment', 'Environment', html`<select id="environment" @change=${({ target }) => update({ environment: target.value })}>${environments.map(({ name }) => html`
            <option .value=${name} .selected=${live(name === state.environment)}>${name}</option>`)}</select>`)}
          ${control('project', 'Project', box, 'The token contains its toggles only.')}</div>`
    : control('secret', 'Secret of the token', html`<input id="secret" type="password" autocomplete="off" spellcheck="false" .value=${live(state.typed)}
          aria-invalid=${state.errors.secret ? 'true' : nothing} aria-describedby=${state.errors.secret ? 'secret-error' : 'secret-hint'}
          @input=${({ target }) => update({ typed: target.value })}>`, 'It stays on this page. The token decides the environment and the projects.')}
        ${state.errors.form ? html`<p class="error" role="alert">${state.errors.form}</p>` : nothing}
        <div class="buttons"><button type="submit" class=${state.connection ? nothing : 'primary'} aria-disabled=${state.busy ? 'true' : nothing} aria-busy=${state.busy ? 'true' : nothing}>${
    state.source === 'new' ? (state.busy ? 'Creating…' : `Create a ${kind} token`) : state.busy ? 'Checking…' : 'Use this token'}</button></div>
      </form>
      ${state.connection ? steps(state.connection) : nothing}`, content);
  }

  function source(value, label) {
    return html`<label class="check"><input type="radio" name="source" .checked=${live(state.source === value)} @change=${() => update({ source: value })}> ${label}</label>`;
  }

  function control(name, label, shown, hint) {
    const error = state.errors[name];
    return html`<div class="field"><label for=${name}>${label}</label>${shown}${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing}${
      error ? html`<p class="error" id="${name}-error">${error}</p>` : nothing}</div>`;
  }

  function steps({ secret, kind, isNew, token, toggle }) {
    const environment = environments.find(({ name }) => name === token.environment) ?? { name: token.environment };
    const values = { url: clientUrl, secret, app: state.app.trim(), toggle };
    return html`
      <section aria-labelledby="token-title"><h2 id="token-title" tabindex="-1">Token</h2>
        <p>${kinds[kind].name} token <strong><bdi>${token.tokenName}</bdi></strong> for ${environmentName(environment)}, ${projectNames(token).join(', ')}</p>
        ${isNew ? html`<p class="notice warn">This is the only time that the secret is shown. Copy it before you leave this page.</p>` : nothing}
        ${code('Secret', secret)}</section>
      <section aria-labelledby="code-title"><h2 id="code-title">Code for ${sdks[state.sdk].name}</h2>
        ${stepsOf(sdks[state.sdk], examples[sdks[state.sdk].example], values).map((step) => code(step.label, step.code))}</section>
      <section aria-labelledby="request-title"><h2 id="request-title">First request</h2>${firstRequest(state.connection)}</section>`;
  }

  function code(label, text) {
    return html`<div class="code"><div class="code-head"><span>${label}</span><span class="detail" role="status">${state.copied === label ? 'Copied.' : nothing}</span>
      <button type="button" @click=${() => copy(label, text)}>Copy<span class="visually-hidden"> ${label}</span></button></div>
      <pre tabindex="0" aria-label=${label} dir="ltr"><code>${text}</code></pre></div>`;
  }

  function firstRequest({ kind, token, since, problem, ended }) {
    if (token.seenAt !== null) {
      return html`<p class="connected" role="status"><span aria-hidden="true">✓ </span>Connected<span class="detail"> · the token was last used ${
        relativeTime(new Date(token.seenAt))}</span></p>`;
    }
    const late = Date.now() - since >= patience;
    return html`
      ${ended ? html`<p role="status">No request has arrived. <button type="button" @click=${again}>Look again</button></p>`
    : html`<p class="waiting" role="status">Waiting for the first request…</p>`}
      ${problem ? html`<p class="error">${problem} The page tries again.</p>` : nothing}
      ${late ? html`<div class="notice"><p>Nothing yet. Check that the application runs, that it can reach <code>${clientUrl}</code>, and that it has this token.${
      kind === 'frontend' ? ' Browsers also need the origin of the page in the parameter FrontendOrigins.' : ''}</p></div>
        ${code('Try it without the SDK', tryCommand(tryUrl(kind)))}` : nothing}`;
  }

  /** Changes the choices. A token of another kind, environment or project is another one. */
  function update(changes) {
    const before = sdks[state.sdk].kind;
    Object.assign(state, changes, { errors: {}, copied: null });
    setError(project, '');
    const isOther = ['environment', 'project', 'source', 'typed'].some((name) => name in changes) || sdks[state.sdk].kind !== before;
    if (isOther) state.connection = null;
    keep();
    draw();
  }

  /** Keeps the choices in the address. */
  function keep() {
    const { sdk, environment, project: projectName, app, source: from } = state;
    const parameters = new URLSearchParams({ sdk, ...from === 'new' && { environment }, ...from === 'new' && projectName && { project: projectName }, app });
    if (mayCreate && from !== 'new') parameters.set('token', from);
    window.history.replaceState(null, '', `${connectAddress()}?${parameters}`);
  }

  async function submit(event) {
    event.preventDefault();
    if (state.busy || !await settled(event.target)) return;
    Object.assign(state, { errors: {}, copied: null });
    setError(project, state.source === 'new' && state.project === '' ? 'Choose a project, or all projects.' : '');
    if (!appPattern.test(state.app.trim())) state.errors.app = 'Enter a name of up to 100 letters, digits, spaces and . _ -.';
    else if (state.source === 'existing' && state.typed.trim() === '') state.errors.secret = 'Enter the secret.';
    draw();
    const wrong = content.querySelector('[aria-invalid]');
    if (wrong) {
      wrong.focus();
      return;
    }
    state.busy = true;
    draw();
    try {
      await connect();
    } catch (error) {
      if (signal.aborted) return;
      const { byControl, rest } = dividedError(error, (name) => ({ tokenName: 'app', environment: 'environment' })[name]);
      state.errors = { ...byControl, form: rest };
    }
    state.busy = false;
    draw();
    if (state.connection) {
      content.querySelector('#token-title').focus();
      watch(state.connection);
    } else content.querySelector('[aria-invalid]')?.focus();
  }

  async function connect() {
    const { kind } = sdks[state.sdk];
    const isNew = state.source === 'new';
    let secret = state.typed.trim();
    if (isNew) {
      ({ secret } = await call('POST', tokensPath, {
        tokenName: state.app.trim(), type: kind, environment: state.environment, projects: [state.project],
      }, { signal }));
    }
    const token = (await loadTokens(signal)).find((other) => isSecretOf(secret, other));
    const refused = (message) => Object.assign(new Error(message), { field: 'secret' });
    if (!token) throw refused('No client token has this secret.');
    if (token.kind !== kind) throw refused(`This is a ${token.kind} token. ${sdks[state.sdk].name} needs a ${kind} token.`);
    state.connection = { secret, kind, isNew, token, toggle: await exampleToggle(token, signal), since: Date.now(), problem: null, ended: false };
  }

  /** Looks for the first request, until the connection is another one. */
  async function watch(connection) {
    while (connection === state.connection && !signal.aborted && connection.token.seenAt === null && !connection.ended) {
      await new Promise((resolve) => { setTimeout(resolve, pause); });
      if (connection !== state.connection || signal.aborted) return;
      if (document.hidden) continue;
      try {
        const token = (await loadTokens(signal)).find((other) => isSecretOf(connection.secret, other));
        connection.problem = token ? null : 'The token was revoked.';
        if (token) connection.token = token;
      } catch (error) {
        if (signal.aborted) return;
        connection.problem = error.message;
      }
      connection.ended = Date.now() - connection.since > end;
      if (connection === state.connection) draw();
    }
  }

  function again() {
    Object.assign(state.connection, { since: Date.now(), ended: false });
    draw();
    watch(state.connection);
  }

  async function copy(label, text) {
    try {
      await navigator.clipboard.writeText(text);
      state.copied = label;
    } catch { // not permitted, or the page does not have a secure origin
      state.copied = null;
      const shown = [...content.querySelectorAll('pre')].find((one) => one.getAttribute('aria-label') === label);
      window.getSelection().selectAllChildren(shown);
    }
    draw();
  }
}

/** An input that chooses the project of a token, or all projects. */
function projectChoice(value, choose) {
  const input = element(html`<input id="project" placeholder="Choose a project">`);
  const box = combobox(input, {
    choices: async (text) => [...projectChoices(await knownProjects().catch(() => []), text), ...matching([allProjects], text)],
    choose,
  });
  box.set(value, value === allProjects.value ? allProjects.label : value);
  return { input, box: box.element };
}

/** Returns the name of a toggle that the token sees. */
async function exampleToggle({ projects }, signal) {
  const [only] = projects.includes('*') ? [undefined] : projects;
  const { features } = await searchToggles({ project: only, limit: 1, sortBy: 'createdAt', sortOrder: 'desc' }, signal).catch(() => ({ features: [] }));
  return features[0]?.name ?? 'my-toggle';
}
