// API tokens: all tokens with their risks for admins, the client tokens for others.

import { loadAllTokens } from '../all-tokens.js';
import { clientUrl, connectAddress, isPresent, kinds } from '../client-token.js';
import { failure, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { loadEnvironments } from '../environment.js';
import { tokenFilters } from '../expiry.js';
import { listView } from '../list.js';
import { html, render as show } from '../template.js';
import { countToggles } from '../toggle.js';
import { loadClientTokens, tokenOrders, tokenTexts } from '../token.js';
import { allowed } from '../why.js';
import { openCreation, openExpiry, openRevocation, openRotation } from './client-token-dialogs.js';
import { creationCommand, deleteToken, rotateToken, tokenOwner } from './token-dialogs.js';
import { commonActions, copier, tokenTable } from './token-table.js';

const lists = [
  { value: '', label: 'All' },
  { value: 'risk', label: 'At risk', test: ({ risks }) => risks.length > 0 },
  { value: 'client', label: 'Applications', test: ({ kind }) => kind === 'client' },
  { value: 'api', label: 'The service', test: ({ kind }) => kind === 'api' },
  { value: 'service-account', label: 'Service accounts', test: ({ owner }) => owner?.kind === 'service-account' },
  { value: 'user', label: 'People', test: ({ owner }) => owner?.kind === 'user' },
];
/** The projects that have no toggle which is not archived, such as misspelled ones: an application gets none of their toggles. */
const withoutToggles = (projects, counts) => projects.filter((name) => name !== '*' && !(counts.get(name)?.[''] > 0));

const clientTypes = Object.entries(kinds).map(([value, { name }]) => ({ value, label: name, test: ({ type }) => type === value }));
const roles = ['Admin', 'Editor', 'Viewer'].map((role) => ({ value: role, label: `Role ${role}`, test: (token) => token.role === role }));

export async function render(content, context) {
  if (context.detail === 'connect') {
    const { render: renderConnect } = await import('./connect.js');
    return renderConnect(content, context);
  }
  const { user, may, search, signal, announce, setActions } = context;
  const isAdmin = may('ADMIN');
  const state = { tokens: null, environments: [], error: null };
  const copy = copier(announce);
  const mayCreate = may('CREATE_CLIENT_API_TOKEN');
  setActions(allowed({ permission: 'CREATE_CLIENT_API_TOKEN', to: 'create client tokens' }, context, 'Create token',
    html`<button type="button" @click=${openCreate}>Create token</button>`), html`<a class="button primary" href=${connectAddress()}>Connect an SDK</a>`);
  const list = listView({
    content,
    search,
    address: '#/api-tokens',
    item: 'token',
    placeholder: isAdmin ? 'Search names, owners and projects' : 'Search names and projects',
    texts: tokenTexts,
    tabs: isAdmin ? { name: 'list', label: 'Lists of tokens', choices: () => lists } : undefined,
    filters: {
      environment: { label: 'Environment', choices: environmentChoices },
      type: { label: 'Type', choices: () => [{ value: '', label: 'All types' }, ...clientTypes, ...isAdmin ? roles : []] },
      show: { label: 'Show', choices: () => tokenFilters },
    },
    orders: tokenOrders,
    order: isAdmin ? { sortBy: 'risk', sortOrder: 'desc' } : { sortBy: 'name', sortOrder: 'asc' },
    draw,
  });
  draw();
  await load();
  if (mayCreate && state.tokens && draftFor('client-token') !== undefined) openCreate();

  async function load() {
    try {
      const environments = loadEnvironments(signal);
      const [all, clients, counts] = await Promise.all([
        isAdmin ? loadAllTokens(signal) : [], environments.then((known) => loadClientTokens(known, signal)),
        countToggles(null, signal).catch(() => null), // the list is of use without
      ]);
      for (const token of clients) token.emptyProjects = counts ? withoutToggles(token.projects, counts.projects) : [];
      Object.assign(state, { tokens: [...all, ...clients], environments: await environments, error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { tokens, error } = state;
    show(html`
      <p class="lead">${isAdmin ? 'Who and what can use the service. ' : ''}Applications get toggles with a client token: create one for each application and environment, so
        that you can revoke it alone.${clientUrl ? '' : ' This deployment has no URL for applications.'}</p>
      ${error ? failure(error, load) : !tokens ? loading('the tokens') : list.template(tokens, table, html`<p class="empty">${
    mayCreate ? 'There are no client tokens. Connect an SDK, or create one for an application.'
      : 'There are no client tokens. An administrator can create one for each application.'}</p>`)}`, content);
  }

  function table(tokens, sorting) {
    const columns = ['name', ...isAdmin ? ['owner'] : [], 'environment', 'createdAt', 'seenAt', 'expiresAt', 'risk'];
    return tokenTable({ caption: isAdmin ? 'Tokens' : 'Client tokens', columns, tokens, environments: state.environments, actions, ...sorting });
  }

  function actions(token) {
    const owner = tokenOwner(token, user);
    const all = () => state.tokens.filter(({ userId }) => userId === token.userId);
    return [
      ...token.kind === 'client' && isPresent(token) && may('CREATE_CLIENT_API_TOKEN') ? [{ label: 'Rotate', action: () => openRotation(token, changed) }] : [],
      ...token.kind === 'client' && isPresent(token) && may('UPDATE_CLIENT_API_TOKEN') ? [{ label: 'Change the expiry', action: () => openExpiry(token, changed) }] : [],
      ...token.kind === 'client' && may('DELETE_CLIENT_API_TOKEN') ? [{ label: 'Revoke', danger: true, action: () => openRevocation(token, changed) }] : [],
      ...owner ? [
        { label: 'Rotate', action: () => rotateToken(owner, token, all(), changed) },
        { label: 'Delete', danger: true, action: () => deleteToken(owner, token, changed) },
      ] : [],
      ...!owner && token.kind !== 'client' ? [{
        label: 'Copy the command to replace it', action: () => copy(creationCommand(token, all()), 'Command copied. An operator can run it. Then revoke the old token.'),
      }, {
        label: 'Copy the command to revoke it', action: () => copy(`toggleadmin tokens revoke ${token.id}`, 'Command copied. An operator can run it.'),
      }] : [],
      ...commonActions(token, { may, copy }),
    ];
  }

  function environmentChoices() {
    const names = new Set([...state.environments.map(({ name }) => name), ...state.tokens.map(({ environment }) => environment).filter(Boolean)]);
    return [{ value: '', label: 'All environments' }, ...[...names].map((name) => ({ value: name, label: name, test: ({ environment }) => environment === name }))];
  }

  function openCreate() {
    openCreation(state.environments, changed);
  }

  /** Loads the list again after a change, and puts the focus where it can be continued. */
  async function changed(message) {
    announce(message);
    await load();
    if (document.activeElement === document.body) content.closest('main')?.querySelector('.head :is(button, a)').focus();
  }
}
