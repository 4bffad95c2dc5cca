// API tokens: the list of the client tokens, and the dialogs that create, change and revoke one.

import { call } from '../api.js';
import { clientUrl, kinds, loadTokens, projectNames, tokenPath, tokenSubject, tokensPath, tryCommand } from '../client-token.js';
import { combobox } from '../combobox.js';
import {
  FieldError, append, failure, field, form, h, links, loading, logLink, openDialog, pager, range, replace, row, shortDate, sortColumn, table,
  text, time,
} from '../dom.js';
import { draftFor, keepControls } from '../draft.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { expiry, expiryChoice, tokenFilters } from '../expiry.js';
import { fold, matcher } from '../search.js';
import { showSecret } from '../secret.js';
import { render as show } from '../template.js';
import { countToggles } from '../toggle.js';

const pageSize = 50;
const shownProjects = 3;

const never = Number.MAX_SAFE_INTEGER;
const sorts = {
  Name: (a, b) => a.tokenName.localeCompare(b.tokenName, 'en'),
  Created: (a, b) => new Date(a.createdAt) - new Date(b.createdAt),
  'Last used': (a, b) => new Date(a.seenAt ?? 0) - new Date(b.seenAt ?? 0), // never used: first
  Expires: (a, b) => (a.expiresAt ? new Date(a.expiresAt) : never) - (b.expiresAt ? new Date(b.expiresAt) : never),
};

export async function render(content, context) {
  if (context.detail === 'connect') {
    const { render: renderConnect } = await import('./connect.js');
    return renderConnect(content, context);
  }
  const { may, search, signal, announce, setActions } = context;
  const list = h('div', null, loading('the tokens'));
  append(content, h('p', { class: 'lead' }, 'Applications ask for toggles with a client token. Create one for each application and environment, ' +
    'so that you can revoke it alone.', !clientUrl && ' This deployment has no URL for applications.'), list);
  let tokens = [];
  let environments = [];
  let offset = 0;
  let sorted = { by: 'Name', order: 1 };
  const create = may('CREATE_CLIENT_API_TOKEN') && h('button', { type: 'button', onclick: openCreation }, 'Create token');
  const rows = h('div');
  const count = h('p', { class: 'detail', role: 'status' });
  return load();

  async function load() {
    try {
      [tokens, environments] = await Promise.all([loadTokens(signal), loadEnvironments(signal)]);
    } catch (error) {
      if (!signal.aborted) replace(list, failure(error, load));
      return;
    }
    setActions(create, h('a', { class: 'button primary', href: '#/api-tokens/connect' }, 'Connect an SDK'));
    const filters = filterControls();
    replace(list, filters.element, h('section', { class: 'results tokens client-tokens', 'aria-label': 'Client tokens' }, count, rows));
    draw(filters);
    if (draftFor('client-token') !== undefined && create) openCreation();
  }

  /** The filters, whose values are part of the address. */
  function filterControls() {
    const options = (name, label, all, values) => h('select', { name, 'data-short': true, onchange: changed },
      h('option', { value: '' }, all), values.map(([value, text]) => h('option', { value, selected: search.get(name) === value }, text)));
    const controls = {
      query: h('input', { type: 'search', name: 'query', autocomplete: 'off', spellcheck: 'false', dir: 'auto', value: search.get('query') ?? '', oninput: changed }),
      environment: options('environment', 'Environment', 'All', [...new Set([...environments.map(({ name }) => name), ...tokens.map(({ environment }) => environment)])]
        .map((name) => [name, name])),
      type: options('type', 'Type', 'All', Object.entries(kinds).map(([value, { name }]) => [value, name])),
      show: options('show', 'Show', tokenFilters.all[0], Object.entries(tokenFilters).filter(([value]) => value !== 'all').map(([value, [label]]) => [value, label])),
    };
    const element = h('div', { class: 'filters', hidden: tokens.length === 0 }, field('Search', controls.query),
      field('Environment', controls.environment), field('Type', controls.type), field('Show', controls.show));
    const result = { element, values: () => Object.fromEntries(Object.entries(controls).map(([name, { value }]) => [name, value])) };
    return result;

    function changed() {
      offset = 0;
      const parameters = new URLSearchParams(Object.entries(result.values()).filter(([, value]) => value !== ''));
      for (const name of Object.keys(controls)) search.delete(name);
      for (const [name, value] of parameters) search.set(name, value);
      window.history.replaceState(null, '', `#/api-tokens${parameters.size > 0 ? '?' : ''}${parameters}`);
      draw(result);
    }
  }

  function draw(filters) {
    if (tokens.length === 0) {
      count.textContent = '';
      replace(rows, h('p', { class: 'empty' }, create ? 'There are no client tokens. Connect an SDK, or create one for an application.'
        : 'There are no client tokens. An administrator can create one for each application.'));
      return;
    }
    const now = Date.now();
    const values = filters.values();
    const matches = matcher(values.query);
    const found = tokens
      .filter((token) => tokenFilters[values.show || 'all'][1](token, now))
      .filter(({ kind, environment }) => (!values.type || kind === values.type) && (!values.environment || environment === values.environment))
      .filter(({ tokenName, projects }) => matches(tokenName, ...projects))
      .sort((a, b) => sorted.order * sorts[sorted.by](a, b));
    if (offset >= found.length) offset = 0;
    count.textContent = found.length === 0 ? 'No client tokens' : range(found.length, offset, pageSize, 'client token');
    if (found.length === 0) {
      replace(rows, h('p', { class: 'empty' }, 'No client token matches the filters.'));
      return;
    }
    const hasActions = ['UPDATE_CLIENT_API_TOKEN', 'DELETE_CLIENT_API_TOKEN'].some(may);
    const sorting = (name) => sortColumn(name, sorted.by === name && sorted.order, () => {
      sorted = { by: name, order: sorted.by === name && sorted.order > 0 ? -1 : 1 };
      offset = 0;
      draw(filters);
      rows.querySelector(`[data-sort="${name}"]`)?.focus();
    });
    const columns = [sorting('Name'), 'Environment', ...['Created', 'Last used', 'Expires'].map(sorting),
      ...hasActions ? [{ name: 'Actions', class: 'actions' }] : []];
    replace(rows,
      table('Client tokens', columns, found.slice(offset, offset + pageSize).map((token) => tokenRow(columns, token, hasActions))),
      pager('Pages of client tokens', found.length, offset, pageSize, (to) => {
        offset = to;
        draw(filters);
        rows.querySelector('tbody button, thead button').focus();
      }));
  }

  function tokenRow(columns, token, hasActions) {
    const mark = expiry(token);
    const about = () => [' of token ', text(token.tokenName)];
    const hidden = (...words) => h('span', { class: 'visually-hidden' }, words);
    return row(columns, [
      [text(token.tokenName), h('small', { class: 'detail' }, kinds[token.kind].name)],
      h('div', null, environmentLabel(token.environment), projectList(token)),
      time(token.createdAt),
      token.seenAt === null ? 'Never' : time(token.seenAt),
      token.expiresAt === null ? 'Never' : [time(token.expiresAt), mark && [' ', h('span', { class: `badge ${mark.kind}` }, mark.label)]],
      ...hasActions ? [[
        may('UPDATE_CLIENT_API_TOKEN') && h('button', { type: 'button', onclick: () => openExpiry(token) }, 'Expiry', hidden(about())),
        may('DELETE_CLIENT_API_TOKEN') && h('button', { type: 'button', class: 'danger quiet', onclick: () => openRevocation(token) }, 'Revoke',
          hidden(' token ', text(token.tokenName))),
        may('ADMIN') && links(logLink({ subject: tokenSubject(token) }, 'History', about())),
      ]] : [],
    ]);
  }

  function environmentLabel(name) {
    const environment = environments.find((other) => other.name === name);
    if (!environment) return text(name);
    const label = h('span');
    show(environmentName(environment), label);
    return label;
  }

  function projectList(token) {
    const names = projectNames(token);
    const joined = (some) => some.flatMap((name, i) => [i > 0 && ', ', name === 'All projects' ? name : text(name)]);
    if (names.length <= shownProjects) return h('small', { class: 'projects' }, joined(names));
    return h('details', { class: 'plain' }, h('summary', null, `${names.length} projects`), h('p', null, joined(names)));
  }

  /** Loads the list again after a change, and puts the focus where it can be continued. */
  async function changed(message) {
    announce(message);
    await load();
    (content.closest('main').querySelector('.head button') ?? content).focus();
  }

  function openCreation() {
    let created = false;
    const name = h('input', { name: 'tokenName', autocomplete: 'off', dir: 'auto', required: true });
    const kind = h('select', { name: 'type', onchange: explain }, Object.entries(kinds).map(([value, item]) => h('option', { value }, item.name)));
    const explanation = h('span');
    const environment = h('select', { name: 'environment' }, environments.map((item) => h('option', { value: item.name }, item.name)));
    const projects = h('input', { name: 'projects', placeholder: 'All projects', autocomplete: 'off', spellcheck: 'false' });
    const expires = expiryChoice({ never: true, chosen: 'never' });
    const dialog = openDialog('Create a client token', () => [
      form({ submit: 'Create token', busy: 'Creating…', cancel: () => draft.leave(), send },
        field('Name', name, 'The application that uses it, for example “shop server”.'),
        field('Type', kind, explanation),
        field('Environment', environment),
        field('Projects', projects, 'Empty for all projects. Separate several by commas.', projectBox(projects, signal)),
        expires.fields),
    ], () => created && changed(`The token “${name.value}” was created.`), () => leave());
    explain();
    const draft = keepControls(dialog, { name, kind, environment, projects, ...expires.controls },
      { kind: 'client-token', about: null, title: 'a new client token' });
    let { leave } = draft;
    name.focus();

    function explain() {
      explanation.textContent = kinds[kind.value].about;
    }

    async function send() {
      if (name.value.trim() === '') throw new FieldError('tokenName', 'Enter a name.');
      const chosen = [...new Set(split(projects.value))];
      const { secret, tokenName } = await call('POST', tokensPath, {
        tokenName: name.value, type: kind.value, environment: environment.value,
        projects: chosen.length > 0 ? chosen : ['*'], expiresAt: expires.value(),
      }).catch(namingProjects);
      created = true;
      draft.end();
      leave = showSecret(dialog, { secret, name: tokenName, command: tryCommand(kind.value, secret) });
      if (!dialog.open) { // closed while the request was under way
        append(document.querySelector('main'), dialog);
        dialog.showModal();
      }
    }
  }

  function openExpiry(token) {
    const expires = expiryChoice({ never: true, chosen: token.expiresAt === null ? 'never' : 30 });
    const dialog = openDialog(['Change the expiry of ', text(token.tokenName)], () => [
      form({
        submit: 'Save', busy: 'Saving…', cancel: () => dialog.close(),
        async send() {
          await call('PUT', tokenPath(token), { expiresAt: expires.value() });
          dialog.close();
          await changed(`The expiry of “${token.tokenName}” was changed.`);
        },
      },
      h('p', null, token.expiresAt === null ? 'The token never expires.' : ['The token ', expiry(token)?.kind === 'bad' ? 'has expired on ' : 'expires on ',
        shortDate(token.expiresAt), '.']),
      expires.fields),
    ]);
  }

  function openRevocation(token) {
    const dialog = openDialog(['Revoke ', text(token.tokenName), '?'], () => [
      h('p', null, 'Applications with this token can no longer ask for the toggles of ', text(token.environment), '. This cannot be undone.'),
      token.seenAt !== null && h('p', { class: 'notice warn' }, 'It was last used ', time(token.seenAt).firstChild, '.'),
      form({
        submit: 'Revoke token', busy: 'Revoking…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', tokenPath(token)).catch((error) => {
            if (error.status !== 404) throw error; // it is gone already
          });
          dialog.close();
          await changed(`The token “${token.tokenName}” was revoked.`);
        },
      }),
    ]);
  }
}

const split = (value) => value.split(',').map((name) => name.trim()).filter(Boolean);

/** An error about one of the projects belongs to their control. */
function namingProjects(error) {
  const message = /^The `\/body\/projects\/\d+` property (must .*)$/.exec(error.message)?.[1];
  if (message) throw new FieldError('projects', `Each name ${message}`);
  throw error;
}

/** Proposes existing projects for the last name in a list of them. */
function projectBox(input, signal) {
  let known;
  return combobox(input, {
    free: true,
    choices: async () => {
      known ??= [...(await countToggles(null, signal).catch(() => ({ projects: new Map() }))).projects.keys()];
      const names = input.value.split(',').map((name) => name.trim());
      const last = known.includes(names.at(-1)) ? '' : names.pop();
      const chosen = names.filter(Boolean);
      return known.filter((name) => !chosen.includes(name) && fold(name).startsWith(fold(last)))
        .map((name) => ({ value: [...chosen, name].join(', '), label: [...chosen, name].join(', ') }));
    },
  }).element;
}
