// Personal access tokens: the caller's own, and for administrators those of the service accounts.

import { call, roles } from '../api.js';
import { FieldError, failure, field, form, h, links, loading, logLink, openDialog, row, table, text, time } from '../dom.js';
import { credential, signOut } from '../session.js';

const day = 86_400_000;
const soon = 14 * day;

export async function render(content, context) {
  const own = h('section', { 'aria-labelledby': 'own-tokens' });
  content.append(
    h('p', { class: 'lead' }, 'A personal access token signs a script or a tool in as its user, with the permissions of that user. ' +
      'Create one token for each place that uses it, so that you can delete it alone.'),
    own);
  const heading = h('div', { class: 'title' }, h('h2', { id: 'own-tokens' }, 'Your tokens'));
  own.append(heading);
  const parts = [context.user
    ? showTokens(own, heading, '/api/admin/user/tokens', null, context)
    : explainApiToken(own)];
  if (context.may('ADMIN')) {
    const accounts = h('section', { 'aria-labelledby': 'service-accounts' },
      h('div', { class: 'title' }, h('h2', { id: 'service-accounts' }, 'Tokens of service accounts')));
    content.append(accounts);
    parts.push(showAccounts(accounts, context));
  }
  await Promise.all(parts);
}

function explainApiToken(section) {
  section.append(h('p', { class: 'notice' }, 'You are signed in with an API token. It belongs to the service and not to a user, ' +
    'so there are no tokens of your own. To see and create them, sign in with a personal access token.'));
}

async function showAccounts(section, context) {
  const list = h('div', null, loading('the service accounts'));
  section.append(list);
  let accounts;
  try {
    accounts = (await call('GET', '/api/admin/service-account', undefined, { signal: context.signal })).serviceAccounts;
  } catch (error) {
    if (!context.signal.aborted) list.replaceChildren(failure(error, () => { list.remove(); showAccounts(section, context); }));
    return;
  }
  if (accounts.length === 0) {
    list.replaceChildren(h('p', { class: 'empty' }, 'There are no service accounts.'));
    return;
  }
  list.replaceChildren(...accounts.map((account) => {
    const count = h('span', { class: 'count' });
    const panel = h('details', { open: accounts.length <= 5 },
      h('summary', null, h('h3', null, text(account.name)), ' ',
        h('span', { class: 'detail' },
          account.username !== account.name && [text(account.username), ' · '], `${roles[account.rootRole]} · `, count)),
      links(logLink({ createdBy: account.id }, 'Activity', 'of ', text(account.name)),
        logLink({ subject: `account:${account.id}` }, 'History', 'of ', text(account.name))));
    showTokens(panel, panel, `/api/admin/service-account/${account.id}/token`, account.name, context, account.tokens, count);
    return panel;
  }));
}

/**
 * Lists the tokens of one account in `section`, with a button in `place`. `owner` is the account's name, null for the caller. Without
 * `tokens`, it loads them from `path`.
 */
async function showTokens(section, place, path, owner, { may, signal, announce }, tokens, count = h('span')) {
  const list = h('div', null, loading('your tokens'));
  const create = h('button', { type: 'button', class: 'primary', onclick: () => createToken(path, owner, add) },
    'Create token', owner !== null && h('span', { class: 'visually-hidden' }, ' for ', text(owner)));
  section.append(list);
  await load();

  async function load() {
    try {
      tokens ??= (await call('GET', path, undefined, { signal })).pats;
    } catch (error) {
      if (!signal.aborted) list.replaceChildren(failure(error, load));
      return;
    }
    place.append(create);
    show();
  }

  function show() {
    const expiring = tokens.filter((token) => expiry(token)).length;
    count.textContent = tokens.length === 1 ? '1 token' : `${tokens.length} tokens`;
    if (expiring > 0) count.textContent += `, ${expiring} expired or expiring soon`;
    if (tokens.length === 0) {
      list.replaceChildren(h('p', { class: 'empty' }, 'No tokens.'));
      return;
    }
    const columns = ['Description', 'Created', 'Last used', 'Expires', { name: 'Actions', class: 'actions' }];
    const caption = owner === null ? 'Your tokens' : `Tokens of ${owner}`;
    list.replaceChildren(table(caption, columns, tokens.map((token) => tokenRow(columns, token, may('ADMIN'), remove))));
  }

  function add(token) {
    tokens.push(token);
    show();
  }

  function remove(token) {
    deleteToken(path, token, owner, () => {
      tokens = tokens.filter((other) => other !== token);
      show();
      create.focus();
      announce(`The token “${token.description}” was deleted.`);
    });
  }
}

/** Returns what is to be said about the expiry of a token: a class and a text, or null. */
function expiry({ expiresAt }, now = Date.now()) {
  const left = new Date(expiresAt) - now;
  if (left <= 0) return { kind: 'bad', label: 'Expired' };
  if (left <= soon) return { kind: 'warn', label: 'Expires soon' };
  return null;
}

function tokenRow(columns, token, logged, remove) {
  const mark = expiry(token);
  const about = () => ['of token ', text(token.description)];
  return row(columns, [
    [text(token.description), isOfSession(token) && [' ', h('span', { class: 'badge' }, 'Signed in with this token')]],
    time(token.createdAt),
    token.seenAt === null ? 'Never' : time(token.seenAt),
    [time(token.expiresAt), mark && [' ', h('span', { class: `badge ${mark.kind}` }, mark.label)]],
    [
      h('button', { type: 'button', class: 'danger quiet', onclick: () => remove(token) },
        'Delete', h('span', { class: 'visually-hidden' }, ' token ', text(token.description))),
      logged && links(logLink({ token: token.id }, 'Activity', about()), logLink({ subject: `pat:${token.id}` }, 'History', about())),
    ],
  ]);
}

/** Reports whether the page is signed in with a token. The secret's selector contains its owner's ID and its own, 8 bytes each. */
function isOfSession({ id, userId }) {
  const [, selector] = /^user:v2_([\w-]{22})_/.exec(credential() ?? '') ?? [];
  if (!selector) return false;
  const bytes = Uint8Array.from(atob(selector.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return view.getBigUint64(0) === BigInt(userId) && view.getBigUint64(8) === BigInt(id);
}

function createToken(path, owner, created) {
  const date = (then) => then.toLocaleDateString(undefined, { dateStyle: 'medium' });
  const presets = [[7, '7 days'], [30, '30 days'], [90, '90 days'], [365, '1 year']];
  const isoDay = (then) => then.toLocaleDateString('en-CA'); // 2026-11-22, in the user's time zone
  const inDays = (count) => new Date(Date.now() + count * day);
  const description = h('input', { name: 'description', autocomplete: 'off', dir: 'auto', required: true });
  const choice = h('select', { onchange: choose },
    presets.map(([count, label]) => h('option', { value: count, selected: count === 30 }, `${label} (${date(inDays(count))})`)),
    h('option', { value: '' }, 'Another date…'));
  const until = h('input', { name: 'expiresAt', type: 'date', min: isoDay(inDays(1)), max: '9999-12-30', required: true });
  const untilField = field('Expiry date', until, 'The token expires at the end of this day.');
  const choiceField = field('Expires in', choice);
  let token = null;

  const dialog = openDialog(owner === null ? 'Create a token' : ['Create a token for ', text(owner)], () => [
    form({ submit: 'Create token', busy: 'Creating…', cancel: () => dialog.close(), send },
      field('Description', description, 'Where the token is used, for example “Terraform on the build server”.'),
      choiceField,
      untilField),
  ], () => token && created(token));
  choose();
  description.focus();

  function choose() {
    untilField.hidden = choice.value !== '';
    until.disabled = untilField.hidden;
    // An error of the API about the expiry belongs to the visible control.
    choice.name = untilField.hidden ? 'expiresAt' : '';
    if (!untilField.hidden && !until.value) until.value = isoDay(inDays(30));
  }

  async function send() {
    if (description.value.trim() === '') throw new FieldError('description', 'Enter a description.');
    if (!until.disabled && !until.value) throw new FieldError('expiresAt', 'Enter a date.');
    const expiresAt = until.disabled ? inDays(Number(choice.value)) : new Date(`${until.value}T23:59:59.999`);
    let secret;
    try {
      ({ secret, ...token } = await call('POST', path, { description: description.value, expiresAt: expiresAt.toISOString() }));
    } catch (error) {
      if (error.status === 409) throw new FieldError('description', error.message);
      throw error;
    }
    dialog.replaceChildren(...showSecret(dialog, secret, token));
    if (!dialog.open) { // closed while the request was under way
      document.querySelector('main').append(dialog);
      dialog.showModal();
    }
    dialog.querySelector('textarea').select();
  }
}

function showSecret(dialog, secret, token) {
  const value = h('textarea', { readonly: true, rows: '3', spellcheck: 'false', class: 'secret', dir: 'ltr' }, secret);
  const state = h('span', { role: 'status' });
  const copy = h('button', { type: 'button', class: 'primary', onclick: copySecret }, 'Copy');
  const heading = h('h2', { id: dialog.getAttribute('aria-labelledby') }, 'Copy the token now');
  return [
    heading,
    h('p', null, 'The token ', h('strong', null, text(token.description)), ' was created.'),
    h('p', { class: 'notice warn' }, 'This is the only time that the secret is shown. Store it where the tool that needs it can read it, ' +
      'and nowhere else.'),
    field('Secret', value),
    h('div', { class: 'buttons' }, copy, h('button', { type: 'button', onclick: () => dialog.close() }, 'Done'), state),
  ];

  async function copySecret() {
    try {
      await navigator.clipboard.writeText(secret);
      state.textContent = 'Copied.';
    } catch { // not permitted, or the page does not have a secure origin
      value.select();
      state.textContent = 'The browser does not allow it. The secret is selected: copy it with the keyboard.';
    }
  }
}

function deleteToken(path, token, owner, deleted) {
  const ofSession = isOfSession(token);
  const dialog = openDialog('Delete this token?', () => [
    h('p', null, 'The token ', h('strong', null, text(token.description)), owner !== null && [' of ', h('strong', null, text(owner))],
      ' will stop working with the next request. This cannot be undone.'),
    ofSession && h('p', { class: 'notice warn' }, 'You are signed in with this token. Deleting it signs you out.'),
    form({
      submit: 'Delete token',
      busy: 'Deleting…',
      danger: true,
      cancel: () => dialog.close(),
      async send() {
        try {
          await call('DELETE', `${path}/${token.id}`);
        } catch (error) {
          if (error.status !== 404) throw error; // it is gone already
        }
        dialog.close();
        if (ofSession) signOut();
        else deleted();
      },
    }),
  ].filter(Boolean));
}
