// Service accounts, and their tokens in one table.

import { call, roles } from '../api.js';
import { draftFor, keepControls } from '../draft.js';
import {
  FieldError, append, counted, failure, field, form, h, links, loading, logLink, openDialog, pager, range, replace, row, table, text,
} from '../dom.js';
import { expiry } from '../expiry.js';
import { matcher } from '../search.js';
import { createToken, tokenList } from './tokens.js';

const path = '/api/admin/service-account';
const pageSize = 50;

export async function render(content, context) {
  const { signal, announce, setActions } = context;
  const list = h('div', null, loading('the service accounts'));
  const create = h('button', { type: 'button', class: 'primary', onclick: () => openEditor(null, saved) }, 'Create service account');
  const input = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', dir: 'auto', oninput: () => { offset = 0; search(); } });
  const count = h('p', { class: 'detail', role: 'status' });
  const tokens = h('div');
  setActions(create);
  append(content,
    h('p', { class: 'lead' }, 'A service account is a user that is not a person: a script or a tool with its own role and tokens.'),
    h('div', { class: 'filters' }, field('Search', input, 'Accounts and tokens')),
    h('section', { class: 'results', 'aria-label': 'Service accounts' }, count, list),
    h('section', { 'aria-labelledby': 'account-tokens', class: 'tokens' },
      h('div', { class: 'title' }, h('h2', { id: 'account-tokens' }, 'Tokens of service accounts')), tokens));
  let accounts = [];
  let shown = null;
  let offset = 0;
  await load();
  const continued = draftFor('edit-account');
  if (draftFor('create-account') !== undefined) openEditor(null, saved);
  else if (continued !== undefined) edit(accounts.find(({ id }) => id === continued));
  else for (const account of accounts) if (draftFor('create-token') === owner(account).path) newToken(account);

  async function load() {
    try {
      ({ serviceAccounts: accounts } = await call('GET', path, undefined, { signal }));
    } catch (error) {
      if (!signal.aborted) replace(list, failure(error, load));
      return;
    }
    shown = tokenList('Tokens of service accounts',
      accounts.flatMap((account) => account.tokens.map((token) => ({ ...token, owner: owner(account) }))), context, {
        accounts: true, create, changed: search,
        empty: accounts.length === 0 ? 'There are no tokens.' : 'There are no tokens. Create one for an account above.',
      });
    replace(tokens, shown.element);
    search();
  }

  /** Shows the accounts and the tokens that match the search. */
  function search() {
    const query = input.value;
    const matches = matcher(query);
    if (shown.searched !== query) {
      shown.searched = query;
      shown.search(query);
    }
    const found = accounts.filter(({ name, username }) => matches(name, username));
    count.textContent = found.length === 0 ? '' : range(found.length, offset, pageSize, 'service account');
    if (found.length === 0) {
      replace(list, h('p', { class: 'empty' }, accounts.length > 0 ? 'No service account matches the search.'
        : 'There are no service accounts. Create one for each script or tool that calls the API.'));
      return;
    }
    const columns = ['Name', 'Role', 'Tokens', { name: 'Actions', class: 'actions' }];
    replace(list, table('Service accounts', columns, found.slice(offset, offset + pageSize).map((account) => accountRow(columns, account))),
      pager('Pages of service accounts', found.length, offset, pageSize, (to) => {
        offset = to;
        search();
        list.querySelector('button').focus();
      }));
  }

  function accountRow(columns, account) {
    const own = shown.tokens().filter((token) => token.owner.path === owner(account).path);
    const marks = own.map((token) => expiry(token)).filter(Boolean);
    const named = (...words) => h('span', { class: 'visually-hidden' }, words, text(account.name));
    return row(columns, [
      [text(account.name), account.username !== account.name && h('small', { class: 'detail' }, text(account.username))],
      roles[account.rootRole],
      [own.length === 0 ? 'None' : own.length.toLocaleString('en'), marks.length > 0 && [' ', h('span', { class: 'badge warn' },
        `${marks.length} expired or expiring soon`)]],
      [
        h('button', { type: 'button', onclick: () => newToken(account) }, 'Create token', named(' for ')),
        h('button', { type: 'button', 'data-edit': account.id, onclick: () => edit(account) }, 'Edit', named(' service account ')),
        h('button', { type: 'button', class: 'danger quiet', onclick: () => openDeletion(account, own.length, deleted) }, 'Delete', named(' service account ')),
        links(logLink({ createdBy: account.id }, 'Activity', 'of ', text(account.name)),
          logLink({ subject: `account:${account.id}` }, 'History', 'of ', text(account.name))),
      ],
    ]);
  }

  function newToken(account) {
    createToken(owner(account), (token) => {
      shown.add({ ...token, owner: owner(account) });
      search();
      announce(`The token “${token.description}” was created.`);
    });
  }

  function edit(account) {
    if (account) openEditor(account, saved);
  }

  async function saved(account, isNew) {
    input.value = '';
    await load();
    (list.querySelector(`[data-edit="${account.id}"]`) ?? create).focus();
    announce(`Service account ${account.name} ${isNew ? 'created. Create a token for it next' : 'saved'}.`);
  }

  async function deleted(account) {
    await load();
    create.focus();
    announce(`Service account ${account.name} deleted.`);
  }
}

const owner = ({ id, name, username }) => ({ path: `${path}/${id}/token`, name, username });

/** Opens the dialog that creates a service account, or changes one. */
function openEditor(account, saved) {
  const controls = {
    ...!account && { username: h('input', { name: 'username', autocomplete: 'off', spellcheck: 'false', required: true }) },
    name: h('input', { name: 'name', autocomplete: 'off', dir: 'auto', required: true, value: account?.name }),
    rootRole: h('select', { name: 'rootRole' }, Object.entries(roles).map(([id, role]) =>
      h('option', { value: id, selected: Number(id) === (account?.rootRole ?? 3) }, role))),
  };
  const dialog = openDialog(account ? ['Edit service account ', text(account.name)] : 'Create a service account', () => [
    form({
      submit: account ? 'Save' : 'Create service account', busy: account ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send,
    },
    controls.username && field('User name', controls.username, 'Unique, for example “deploy”. It cannot be changed later.'),
    field('Name', controls.name, 'What people call it.'),
    field('Role', controls.rootRole, 'Admin: everything. Editor: toggles and context fields. Viewer: only reading.')),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: account ? 'edit-account' : 'create-account', about: account?.id ?? null,
    title: account ? `changes of the service account ${account.name}` : 'a new service account',
  });
  (controls.username ?? controls.name).focus();

  async function send() {
    const body = { name: controls.name.value, rootRole: Number(controls.rootRole.value) };
    let result;
    try {
      result = account ? await call('PUT', `${path}/${account.id}`, body)
        : await call('POST', path, { username: controls.username.value, ...body });
    } catch (error) {
      if (error.status === 409 && !account) throw new FieldError('username', error.message);
      throw error;
    }
    draft.done();
    await saved(result, !account);
  }
}

function openDeletion(account, tokens, deleted) {
  const dialog = openDialog(['Delete service account ', text(account.name), '?'], () => [
    h('p', null, 'The account ', h('strong', null, text(account.name)), tokens === 0 ? ' has no tokens.'
      : [' and its ', counted(tokens, 'token'), ' will stop working with the next request.'], ' This cannot be undone.'),
    form({
      submit: 'Delete service account',
      busy: 'Deleting…',
      danger: true,
      cancel: () => dialog.close(),
      async send() {
        try {
          await call('DELETE', `${path}/${account.id}`);
        } catch (error) {
          if (error.status !== 404) throw error; // it is gone already
        }
        dialog.close();
        await deleted(account);
      },
    }),
  ]);
}
