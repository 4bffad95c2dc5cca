// Personal access tokens: the caller's own, and the dialogs and the table that the page of the service accounts uses too.

import { call } from '../api.js';
import { draftFor, keepControls } from '../draft.js';
import {
  FieldError, append, failure, field, form, h, links, loading, logLink, openDialog, pager, range, replace, row, sortColumn, table, text,
  time,
} from '../dom.js';
import { expiry, expiryChoice, tokenFilters } from '../expiry.js';
import { fold, matcher } from '../search.js';
import { showSecret } from '../secret.js';
import { credential, signOut } from '../session.js';

const pageSize = 50;
const ownPath = '/api/admin/user/tokens';

export async function render(content, context) {
  const { user, signal, announce, setActions } = context;
  append(content, h('p', { class: 'lead' }, 'A personal access token signs a script or a tool in as its user, with the permissions of that user. ' +
    'Create one token for each place that uses it, so that you can delete it alone.'));
  if (!user) {
    append(content, h('p', { class: 'notice' }, 'You are signed in with an API token. It belongs to the service and not to a user, ' +
      'so there are no tokens of your own. To see and create them, sign in with a personal access token.'));
    return;
  }
  const list = h('div', null, loading('your tokens'));
  append(content, list);
  const owner = { path: ownPath, name: null };
  const create = h('button', { type: 'button', class: 'primary', onclick: () => createToken(owner, add) }, 'Create token');
  let shown;
  await load();

  async function load() {
    try {
      const { pats } = await call('GET', ownPath, undefined, { signal });
      shown = tokenList('Your tokens', pats.map((token) => ({ ...token, owner })), context, {
        create, empty: 'You have no tokens. Create one for a script or a tool that calls the API.',
      });
    } catch (error) {
      if (!signal.aborted) replace(list, failure(error, load));
      return;
    }
    setActions(create);
    replace(list, shown.element);
    if (draftFor('create-token') === ownPath) createToken(owner, add);
  }

  function add(token) {
    shown.add({ ...token, owner });
    announce(`The token “${token.description}” was created.`);
  }
}

const sorts = {
  Description: (a, b) => a.description.localeCompare(b.description, 'en'),
  Account: (a, b) => a.owner.name.localeCompare(b.owner.name, 'en'),
  Created: (a, b) => new Date(a.createdAt) - new Date(b.createdAt),
  'Last used': (a, b) => new Date(a.seenAt ?? 0) - new Date(b.seenAt ?? 0), // never used: first
  Expires: (a, b) => new Date(a.expiresAt) - new Date(b.expiresAt),
};

/**
 * A table of tokens with search, filter, sort and pages. Each token has its `owner` {path, name}; with the name null, it is the caller's.
 * @param {{accounts?: boolean, create: HTMLElement, empty: string, changed?: () => void}} options `accounts` adds the column of the
 *   accounts; `create` gets the focus after a deletion; `changed` is called after it
 * @returns {{element: HTMLElement, add: (token: Object) => void, search: (text: string) => void, tokens: () => Array}}
 */
export function tokenList(caption, tokens, { may, announce }, { accounts = false, create, empty, changed = () => {} }) {
  let offset = 0;
  let sorted = { by: 'Expires', order: 1 };
  let query = '';
  const input = h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', dir: 'auto', oninput: () => search(input.value) });
  const filter = h('select', { name: 'filter', onchange: () => { offset = 0; show(); } },
    Object.entries(tokenFilters).map(([value, [label]]) => h('option', { value }, label)));
  const count = h('p', { class: 'detail', role: 'status' });
  const list = h('div');
  const bar = h('div', { class: 'filters' }, !accounts && field('Search', input), field('Show', filter));
  const element = h('div', null, bar, count, list);
  show();
  return { element, search, tokens: () => tokens, add: (token) => { tokens = [...tokens, token]; show(); } };

  function search(text) {
    query = text;
    offset = 0;
    show();
  }

  function show() {
    bar.hidden = tokens.length === 0;
    const now = Date.now();
    const matches = matcher(query);
    const selected = tokens
      .filter((token) => tokenFilters[filter.value][1](token, now))
      .filter(({ description, owner }) => matches(description, owner.name, owner.username))
      .sort((a, b) => sorted.order * sorts[sorted.by](a, b));
    if (offset >= selected.length) offset = 0;
    if (selected.length === 0) {
      count.textContent = tokens.length > 0 ? 'No tokens' : '';
      replace(list, h('p', { class: 'empty' }, tokens.length > 0 ? 'No token matches the search and the filter.' : empty));
      return;
    }
    count.textContent = range(selected.length, offset, pageSize, 'token');
    const columns = ['Description', ...accounts ? ['Account'] : [], 'Created', 'Last used', 'Expires'].map(sorting);
    columns.push({ name: 'Actions', class: 'actions' });
    replace(list,
      table(caption, columns, selected.slice(offset, offset + pageSize).map((token) => tokenRow(columns, token))),
      pager(`Pages of ${caption.toLowerCase()}`, selected.length, offset, pageSize, (to) => {
        offset = to;
        show();
        list.querySelector('tbody button').focus();
      }));
  }

  function sorting(name) {
    const order = sorted.by === name && sorted.order;
    return sortColumn(name, order, () => {
      sorted = { by: name, order: order > 0 ? -1 : 1 };
      offset = 0;
      show();
      list.querySelector(`[data-sort="${name}"]`)?.focus();
    });
  }

  function tokenRow(columns, token) {
    const mark = expiry(token);
    const about = () => ['of token ', text(token.description)];
    const hidden = (...words) => h('span', { class: 'visually-hidden' }, words, text(token.description));
    return row(columns, [
      [text(token.description), isOfSession(token) && [' ', h('span', { class: 'badge' }, 'Signed in with this token')]],
      ...accounts ? [text(token.owner.name)] : [],
      time(token.createdAt),
      token.seenAt === null ? 'Never' : time(token.seenAt),
      [time(token.expiresAt), mark && [' ', h('span', { class: `badge ${mark.kind}` }, mark.label)]],
      [
        h('button', { type: 'button', onclick: () => rotateToken(token, tokens.filter(({ owner }) => owner.path === token.owner.path), add, remove) }, 'Rotate', hidden(' token ')),
        h('button', { type: 'button', class: 'danger quiet', onclick: () => deleteToken(token, () => removed(token)) }, 'Delete', hidden(' token ')),
        may('ADMIN') && links(logLink({ token: token.id }, 'Activity', about()), logLink({ subject: `pat:${token.id}` }, 'History', about())),
      ],
    ]);
  }

  function add(token) {
    tokens = [...tokens, token];
    show();
    changed();
  }

  function remove(token) {
    tokens = tokens.filter((other) => other !== token);
    show();
    changed();
    announce(`The token “${token.description}” was deleted.`);
  }

  function removed(token) {
    remove(token);
    create.focus();
  }
}

/** Reports whether the page is signed in with a token. The secret's selector contains its owner's ID and its own, 8 bytes each. */
function isOfSession({ id, userId }) {
  const [, selector] = /^user:v2_([\w-]{22})_/.exec(credential() ?? '') ?? [];
  if (!selector) return false;
  const bytes = Uint8Array.from(atob(selector.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return view.getBigUint64(0) === BigInt(userId) && view.getBigUint64(8) === BigInt(id);
}

/**
 * Replaces a token: creates another for the same account, shows it, and deletes the old one when told to.
 * @param {Array} all the tokens of the account
 */
function rotateToken(old, all, add, remove) {
  const today = new Date().toISOString().slice(0, 10);
  const taken = new Set(all.map(({ description }) => fold(description)));
  const name = [...old.description.replace(/ \(rotated \d{4}-\d\d-\d\d(, \d+)?\)$/, '')].slice(0, 230).join('');
  let description = `${name} (rotated ${today})`;
  for (let i = 2; taken.has(fold(description)); i += 1) description = `${name} (rotated ${today}, ${i})`;
  createToken(old.owner, (token) => add({ ...token, owner: old.owner }), { old, description, remove });
}

/**
 * Opens the dialog that creates a token.
 * @param {{path: string, name: string|null}} owner
 * @param {(token: Object) => void} created called after the secret was shown
 * @param {{old: Object, description: string, remove: (token: Object) => void}} [rotation] the token that it replaces
 */
export function createToken({ path, name: owner }, created, rotation) {
  const description = h('input', { name: 'description', autocomplete: 'off', dir: 'auto', required: true, value: rotation?.description });
  const expires = expiryChoice();
  let token = null;

  const title = rotation ? ['Rotate the token ', text(rotation.old.description)]
    : owner === null ? 'Create a token' : ['Create a token for ', text(owner)];
  const dialog = openDialog(title, () => [
    rotation && h('p', null, 'This creates a new token', owner !== null && [' of ', h('strong', null, text(owner))],
      '. The old one keeps working until you delete it, which the next step offers.'),
    form({ submit: rotation ? 'Create the new token' : 'Create token', busy: 'Creating…', cancel: () => draft.leave(), send },
      field('Description', description, 'Where the token is used, for example “Terraform on the build server”.'),
      expires.fields),
  ], () => token && created(token), () => leave());
  const draft = keepControls(dialog, { description, ...expires.controls }, {
    kind: rotation ? 'rotate-token' : 'create-token', about: path, title: owner === null ? 'a new token' : `a new token for ${owner}`,
  });
  let leave = draft.leave;
  description.focus();

  async function send() {
    if (description.value.trim() === '') throw new FieldError('description', 'Enter a description.');
    const expiresAt = expires.value();
    let secret;
    try {
      ({ secret, ...token } = await call('POST', path, { description: description.value, expiresAt }));
    } catch (error) {
      if (error.status === 409) throw new FieldError('description', error.message);
      throw error;
    }
    draft.end();
    const command = `curl -H 'Authorization: ${secret}' ${new URL('../../../api/admin/user', import.meta.url)}`;
    leave = showSecret(dialog, { secret, name: token.description, command }, rotation && oldToken(rotation));
    if (!dialog.open) { // closed while the request was under way
      append(document.querySelector('main'), dialog);
      dialog.showModal();
    }
  }
}

/** Offers to delete the token that another replaces. */
function oldToken({ old, remove }) {
  const place = h('div', { class: 'notice' },
    h('p', null, 'Does everything use the new token? Then delete the old one, ', h('strong', null, text(old.description)),
      old.seenAt === null ? ', which was never used.' : [', which was last used ', time(old.seenAt).firstChild, '.']),
    isOfSession(old) && h('p', null, 'You are signed in with the old token. Deleting it signs you out.'),
    form({
      submit: 'Delete the old token', busy: 'Deleting…', danger: true,
      async send() {
        await deletePAT(old);
        replace(place, h('p', { role: 'status' }, 'The old token was deleted.'));
        if (isOfSession(old)) signOut();
        else remove(old);
      },
    }));
  return place;
}

async function deletePAT({ id, owner }) {
  try {
    await call('DELETE', `${owner.path}/${id}`);
  } catch (error) {
    if (error.status !== 404) throw error; // it is gone already
  }
}

function deleteToken(token, deleted) {
  const owner = token.owner.name;
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
        await deletePAT(token);
        dialog.close();
        if (ofSession) signOut();
        else deleted();
      },
    }),
  ]);
}
