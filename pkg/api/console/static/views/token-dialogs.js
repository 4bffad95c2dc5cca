// The dialogs that create, replace and delete personal access tokens.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { keepControls } from '../draft.js';
import { expiryChoice } from '../expiry.js';
import { fold } from '../search.js';
import { showSecret, tryCommand } from '../secret.js';
import { credential, signOut } from '../session.js';
import { element, html, nothing, render } from '../template.js';
import { relativeTime } from '../time.js';

/** The path of the tokens of the caller. */
export const ownPath = '/api/admin/user/tokens';

/** The account that a token belongs to, for the dialogs, or null if only an operator can change its tokens. */
export function tokenOwner({ kind, owner }, user) {
  if (kind !== 'pat' || owner.name === null) return null;
  if (owner.id === user?.id) return { path: ownPath, name: null };
  return owner.kind === 'service-account' ? accountOwner(owner) : null;
}

export const accountOwner = ({ id, name }) => ({ path: `/api/admin/service-account/${id}/token`, name });

/** Reports whether the page is signed in with a token. The selector of a personal access token contains its owner's ID and its own, 8 bytes each. */
export function isOfSession({ kind, id, userId }) {
  const [, prefix, selector] = /^(\*:\*\.|user:)v2_([\w-]{22})_/.exec(credential() ?? '') ?? [];
  if (prefix === '*:*.') return kind === 'api' && id === selector;
  if (!selector || kind !== 'pat') return false;
  const bytes = Uint8Array.from(atob(selector.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return view.getBigUint64(0) === BigInt(userId) && view.getBigUint64(8) === BigInt(id);
}

/**
 * Replaces a token: creates another for the same account, shows it, and deletes the old one when told to.
 * @param {{path: string, name: string|null}} owner
 * @param {Object[]} all the tokens of the account
 * @param {(message?: string) => void} changed called after a change, with what is to be said about it
 */
export function rotateToken(owner, old, all, changed) {
  createToken(owner, changed, { old, description: rotatedName(old, all) });
}

/** The name of a token that replaces another one, which no token of the account has. */
function rotatedName(old, all) {
  const today = new Date().toISOString().slice(0, 10);
  const taken = new Set(all.map(({ name }) => fold(name)));
  const base = [...old.name.replace(/ \(rotated \d{4}-\d\d-\d\d(, \d+)?\)$/, '')].slice(0, 230).join('');
  let description = `${base} (rotated ${today})`;
  for (let i = 2; taken.has(fold(description)); i += 1) description = `${base} (rotated ${today}, ${i})`;
  return description;
}

/** The command with which an operator creates a token that replaces one, for 90 days. */
export function creationCommand(old, all) {
  const name = rotatedName(old, all).replaceAll("'", "'\\''");
  return `toggleadmin tokens create '${name}'${old.kind === 'pat' ? ` --user=${old.userId}` : ''} --expires-in=90d`;
}

/**
 * Opens the dialog that creates a token.
 * @param {{path: string, name: string|null}} owner `path` of its tokens, and its name, null for the caller
 * @param {(message: string) => void} changed called after the secret was shown, and after the old token was deleted
 * @param {{old: Object, description: string}} [rotation] the token that it replaces
 */
export function createToken({ path, name: owner }, changed, rotation) {
  const description = element(html`<input name="description" autocomplete="off" dir="auto" required value=${rotation?.description ?? ''}>`);
  const expires = expiryChoice();
  let token = null;

  const title = rotation ? ['Rotate the token ', text(rotation.old.name)]
    : owner === null ? 'Create a token' : ['Create a token for ', text(owner)];
  const dialog = openDialog(title, () => [
    rotation ? html`<p>This creates a new token${ofOwner(owner)}. The old one keeps working until you delete it, which the next step offers.</p>` : nothing,
    form({ submit: rotation ? 'Create the new token' : 'Create token', busy: 'Creating…', cancel: () => draft.leave(), send },
      field('Description', description, 'Where the token is used, for example “Terraform on the build server”.'),
      expires.fields),
  ], () => token && changed(`The token “${token.description}” was created.`), () => leave());
  const draft = keepControls(dialog, { description, ...expires.controls }, {
    kind: rotation ? 'rotate-token' : 'create-token', about: path, title: owner === null ? 'a new token' : `a new token for ${owner}`,
  });
  let leave = draft.leave;
  description.focus();

  async function send() {
    if (description.value.trim() === '') throw new FieldError('description', 'Enter a description.');
    const expiresAt = expires.value();
    let secret;
    ({ secret, ...token } = await call('POST', path, { description: description.value, expiresAt }));
    draft.end();
    const command = tryCommand(new URL('../../../api/admin/user', import.meta.url));
    leave = showSecret(dialog, { secret, name: token.description, command }, rotation ? oldToken(path, rotation.old, changed) : nothing);
    if (!dialog.open) { // closed while the request was under way
      document.querySelector('main').append(dialog);
      dialog.showModal();
    }
  }
}

const ofOwner = (owner) => (owner === null ? nothing : html` of <strong>${text(owner)}</strong>`);

/** Offers to delete the token that another replaces. */
function oldToken(path, old, changed) {
  const place = element(html`<div class="notice"></div>`);
  const used = old.seenAt === null ? 'never used' : `last used ${relativeTime(new Date(old.seenAt))}`;
  render(html`
    <p>Does everything use the new token? Then delete the old one, <strong>${text(old.name)}</strong>, which was ${used}.</p>
    ${isOfSession(old) ? html`<p>You are signed in with the old token. Deleting it signs you out.</p>` : nothing}
    ${form({
    submit: 'Delete the old token', busy: 'Deleting…', danger: true,
    async send() {
      await deletePAT(path, old);
      render(html`<p role="status">The old token was deleted.</p>`, place);
      if (isOfSession(old)) signOut();
      else changed(`The token “${old.name}” was deleted.`);
    },
  })}`, place);
  return place;
}

async function deletePAT(path, { id }) {
  try {
    await call('DELETE', `${path}/${id}`);
  } catch (error) {
    if (error.status !== 404) throw error; // it is gone already
  }
}

/**
 * Deletes a token after a question.
 * @param {{path: string, name: string|null}} owner
 * @param {(message: string) => void} changed called after it
 */
export function deleteToken({ path, name: owner }, token, changed) {
  const ofSession = isOfSession(token);
  const dialog = openDialog('Delete this token?', () => [
    html`<p>The token <strong>${text(token.name)}</strong>${ofOwner(owner)} will stop working with the next request. This cannot be undone.</p>`,
    ofSession ? html`<p class="notice warn">You are signed in with this token. Deleting it signs you out.</p>` : nothing,
    form({
      submit: 'Delete token',
      busy: 'Deleting…',
      danger: true,
      cancel: () => dialog.close(),
      async send() {
        await deletePAT(path, token);
        dialog.close();
        if (ofSession) signOut();
        else changed(`The token “${token.name}” was deleted.`);
      },
    }),
  ]);
}
