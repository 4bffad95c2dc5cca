// Service accounts: the list, all their tokens, and the page of one account.

import { loadAllTokens } from '../all-tokens.js';
import { call } from '../api.js';
import { failure, loading, logAddress, once } from '../dom.js';
import { draftFor } from '../draft.js';
import { expiry, tokenFilters } from '../expiry.js';
import { listView } from '../list.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { timeOfUse } from '../toggle.js';
import { tokenOrders, tokenTexts } from '../token.js';
import { accountRights } from './account-rights.js';
import { accountsPath, openDeletion, openEditor } from './service-account-dialogs.js';
import { accountOwner, createToken, deleteToken, rotateToken } from './token-dialogs.js';
import { accountAddress, commonActions, copier, moment, tokenTable } from './token-table.js';
import { accountTrusts } from './trusts.js';

const address = '#/service-accounts';
const accountOrders = {
  name: { label: 'Name', compare: (a, b) => a.name.localeCompare(b.name, 'en') },
  role: { label: 'Role', compare: (a, b) => b.rootRole - a.rootRole },
  tokens: { label: 'Tokens', compare: (a, b) => a.tokens.length - b.tokens.length },
  seenAt: { label: 'Last used', compare: (a, b) => Date.parse(lastUse(a) ?? 0) - Date.parse(lastUse(b) ?? 0) },
  createdAt: { label: 'Created', compare: (a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt) },
};

export async function render(content, context) {
  const { detail, may, search, signal, announce, setActions, setPath, setTitle } = context;
  const isTokens = detail === 'tokens';
  const isOne = !isTokens && detail !== '';
  const state = { accounts: null, tokens: [], account: null, roles: [], error: null };
  const roleName = (id) => state.roles.find((role) => role.id === id)?.name ?? `Role ${id}`;
  const rights = isOne ? accountRights({ path: 'service-account', id: detail, address: accountAddress({ id: detail }) }, context, draw) : null;
  const trusts = isOne ? accountTrusts(detail, context, draw) : null;
  const roleChoices = () => [{ value: '', label: 'All roles' },
    ...state.roles.map(({ name }) => ({ value: name, label: name, test: (item) => name === (item.role ?? roleName(item.rootRole)) }))];
  const copy = copier(announce);
  const accountList = listView({
    content,
    search,
    address,
    item: 'service account',
    placeholder: 'Search names and user names',
    texts: ({ name, username }) => [name, username],
    filters: {
      role: { label: 'Role', choices: roleChoices },
      show: { label: 'Show', choices: () => [{ value: '', label: 'With or without tokens' }, { value: 'none', label: 'Without tokens', test: ({ tokens }) => tokens.length === 0 }] },
    },
    orders: accountOrders,
    order: { sortBy: 'name', sortOrder: 'asc' },
    draw,
  });
  const tokenList = listView({
    content,
    search,
    address: isOne ? accountAddress({ id: detail }) : `${address}/tokens`,
    item: 'token',
    placeholder: isOne ? 'Search descriptions' : 'Search descriptions and accounts',
    texts: tokenTexts,
    filters: { ...!isOne && { role: { label: 'Role', choices: roleChoices } }, show: { label: 'Show', choices: () => tokenFilters } },
    orders: tokenOrders,
    order: { sortBy: 'risk', sortOrder: 'desc' },
    draw,
  });
  if (isOne) setPath(html`<a href=${address}>Service accounts</a>`);
  else setActions(html`<button type="button" class="primary" @click=${once(create)}>Create service account</button>`);
  draw();
  const loaded = load();
  await loaded;
  resumeDraft();

  async function load() {
    try {
      const [{ serviceAccounts: accounts, rootRoles }, tokens] = await Promise.all([call('GET', accountsPath, undefined, { signal }), loadAllTokens(signal)]);
      const byId = new Map(accounts.map((account) => [account.id, account]));
      const own = tokens.filter(({ owner }) => byId.has(owner?.id))
        .map((token) => ({ ...token, owner: { ...token.owner, username: byId.get(token.owner.id).username } }));
      Object.assign(state, { accounts, roles: rootRoles, tokens: own, account: isOne ? byId.get(Number(detail)) ?? null : null, error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    if (state.account) showHead(state.account);
    draw();
    if (!state.account) return;
    rights.load(state.account.rootRole);
    trusts.load();
  }

  function showHead(account) {
    setTitle(account.name);
    setActions(
      html`<button type="button" class="danger quiet" @click=${() => openDeletion(account, deleted, rights.answered)}>Delete</button>`,
      html`<button type="button" @click=${() => openEditor(account, state.roles, saved)}>Edit</button>`,
      html`<button type="button" class="primary" @click=${() => newToken(account)}>Create token</button>`);
  }

  function draw() {
    const { accounts, error } = state;
    show(error ? html`${failure(error, load)}` : !accounts ? html`${loading('the service accounts')}` : isOne ? one() : html`
      <p class="lead">A service account is the account of a script or a tool, with a role and tokens of its own.</p>
      <ul class="tabs" aria-label="Lists">${tab('', 'Accounts', accounts.length)}${tab('/tokens', 'Tokens', state.tokens.length)}</ul>
      ${isTokens ? tokenList.template(state.tokens, tokenRows, html`<p class="empty">There are no tokens. Create one on the page of an account.</p>`)
    : accountList.template(accounts, accountRows, html`<p class="empty">There are no service accounts. Create one for each script or tool that calls the API.</p>`)}`, content);
  }

  function tab(path, label, count) {
    const isCurrent = path === (isTokens ? '/tokens' : '');
    return html`<li><a href="${address}${path}" aria-current=${isCurrent ? 'page' : nothing}>${label} <span class="number">${count.toLocaleString('en')}</span></a></li>`;
  }

  function one() {
    const { account } = state;
    if (!account) return html`<p class="empty">There is no such service account. It may have been deleted. <a href=${address}>Show the service accounts</a>.</p>`;
    const fact = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
    return html`
      <dl class="panel">
        ${fact('User name', html`<bdi>${account.username}</bdi>`)}
        ${fact('Role', html`<a href="#/roles/${account.rootRole}"><bdi>${roleName(account.rootRole)}</bdi></a>`)}
        ${fact('Created', moment(account.createdAt))}
        ${fact('Last used', lastUsed(account))}
        ${fact('Event log', html`<div class="links"><a href=${logAddress({ createdBy: account.id })}>Activity</a><a
          href=${logAddress({ subject: `account:${account.id}` })}>History</a></div>`)}
      </dl>
      ${tokenList.template(tokensOf(account), tokenRows, html`<p class="empty">The account has no tokens.</p>`)}
      ${trusts.template()}
      ${rights.template(account.name)}`;
  }

  function accountRows(accounts, { query, ...sorting }) {
    const cells = {
      name: ({ id, name, username }) => html`<a class="one-line" href=${accountAddress({ id })} title=${name}>${marked(name, query)}</a>${
        username === name ? nothing : html`<small class="line" title=${username}>${marked(username, query)}</small>`}`,
      role: ({ rootRole }) => html`<bdi>${roleName(rootRole)}</bdi>`,
      tokens: ({ tokens }) => {
        const marks = tokens.filter((token) => expiry(token)).length;
        return html`${tokens.length === 0 ? 'None' : tokens.length}${marks > 0 ? html` <span class="badge warn">${marks} expired or expiring soon</span>` : nothing}`;
      },
      seenAt: lastUsed,
      createdAt: ({ createdAt }) => moment(createdAt),
    };
    return denseTable({
      caption: 'Service accounts',
      kind: 'accounts few',
      columns: Object.entries(accountOrders).map(([by, { label, compare }]) => ({ name: label, kind: `account-${by}`, compare, cell: cells[by] })),
      items: accounts,
      key: ({ id }) => id,
      actions: (account) => ({
        name: account.name,
        id: `account-${account.id}`,
        items: [
          { label: 'Create token', action: () => newToken(account) },
          { label: 'Edit', action: () => openEditor(account, state.roles, saved) },
          { label: 'Activity', href: logAddress({ createdBy: account.id }) },
          { label: 'History', href: logAddress({ subject: `account:${account.id}` }) },
          { label: 'Copy ID', action: () => copy(String(account.id), 'ID copied.') },
          { label: 'Delete', danger: true, action: () => openDeletion(account, deleted) },
        ],
      }),
      ...sorting,
    });
  }

  function tokenRows(tokens, sorting) {
    return tokenTable({
      caption: 'Tokens of service accounts',
      columns: ['name', ...isOne ? [] : ['owner'], 'createdAt', 'seenAt', 'expiresAt', 'risk'],
      tokens,
      actions: (token) => [
        { label: 'Rotate', action: () => rotateToken(accountOwner(token.owner), token, tokensOf(token.owner), changed) },
        { label: 'Delete', danger: true, action: () => deleteToken(accountOwner(token.owner), token, changed) },
        ...commonActions(token, { may, copy }),
      ],
      ...sorting,
    });
  }

  function tokensOf({ id }) {
    return state.tokens.filter(({ owner }) => owner.id === id);
  }

  async function create() {
    await loaded; // the roles
    openEditor(null, state.roles, saved);
  }

  function newToken(account) {
    createToken(accountOwner(account), changed);
  }

  function resumeDraft() {
    const { accounts } = state;
    if (!accounts) return;
    const continued = draftFor('edit-account');
    const edited = accounts.find(({ id }) => id === continued);
    const owner = accounts.find((account) => draftFor('create-token') === accountOwner(account).path);
    if (draftFor('create-account') !== undefined) create();
    else if (edited) openEditor(edited, state.roles, saved);
    else if (owner) newToken(owner);
  }

  async function saved({ id, name }, isNew) {
    if (isNew) go(accountAddress({ id }), `Service account ${name} created. Create a token for it next.`);
    else await changed(`Service account ${name} saved.`);
  }

  async function deleted({ name }) {
    if (isOne) go(address, `Service account ${name} deleted.`);
    else await changed(`Service account ${name} deleted.`);
  }

  /** Goes to another page, which shows the message. */
  function go(to, message) {
    window.addEventListener('hashchange', () => announce(message), { once: true });
    window.location.hash = to;
  }

  /** Loads the page again after a change, and puts the focus where it can be continued. */
  async function changed(message) {
    announce(message);
    await load();
    if (document.activeElement === document.body) content.closest('main')?.querySelector('.head button').focus();
  }
}

/** When a token of an account was last used, or null. */
function lastUse({ tokens }) {
  return tokens.map(({ seenAt }) => seenAt).filter(Boolean).sort().at(-1) ?? null;
}

function lastUsed(account) {
  const at = lastUse(account);
  return at === null ? html`<span class="detail">Never</span>` : moment(at, timeOfUse(at));
}
