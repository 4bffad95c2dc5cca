// The dialogs that create, change and delete service accounts.

import { call } from '../api.js';
import { field, form, openDialog } from '../dialog.js';
import { counted, text } from '../dom.js';
import { keepControls } from '../draft.js';
import { roleSelect } from '../role-select.js';
import { element, html, nothing } from '../template.js';

export const accountsPath = '/api/admin/service-account';

/**
 * Opens the dialog that creates a service account, or changes one.
 * @param {Object|null} account
 * @param {Object[]} roles the root roles
 * @param {(account: Object, isNew: boolean) => void} saved called after it
 */
export function openEditor(account, roles, saved) {
  const role = roleSelect(roles, account?.rootRole ?? 3);
  const controls = {
    ...!account && { username: element(html`<input name="username" autocomplete="off" spellcheck="false" required>`) },
    name: element(html`<input name="name" autocomplete="off" dir="auto" required value=${account?.name ?? ''}>`),
    rootRole: role.control,
  };
  const dialog = openDialog(account ? ['Edit service account ', text(account.name)] : 'Create a service account', () => [
    form({
      submit: account ? 'Save' : 'Create service account', busy: account ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send,
    },
    controls.username ? field('User name', controls.username, 'Unique, for example “deploy”. It cannot be changed later.') : nothing,
    field('Name', controls.name, 'What people call it.'),
    field('Role', controls.rootRole, undefined, role.shown)),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: account ? 'edit-account' : 'create-account', about: account?.id ?? null,
    title: account ? `changes of the service account ${account.name}` : 'a new service account',
  });
  role.describe(); // of a draft
  (controls.username ?? controls.name).focus();

  async function send() {
    const body = { name: controls.name.value, rootRole: Number(controls.rootRole.value) };
    const result = account ? await call('PUT', `${accountsPath}/${account.id}`, body)
      : await call('POST', accountsPath, { username: controls.username.value, ...body });
    draft.done();
    await saved(result, !account);
  }
}

/**
 * Deletes a service account after a question.
 * @param {Object} account
 * @param {(account: Object) => void} deleted called after it
 * @param {() => Promise<unknown>} [answered] waits until the page asks nothing more about the account
 */
export function openDeletion(account, deleted, answered = undefined) {
  const tokens = account.tokens.length;
  const dialog = openDialog(['Delete service account ', text(account.name), '?'], () => [
    html`<p>The account <strong>${text(account.name)}</strong> ${tokens === 0 ? 'has no tokens.'
      : `and its ${counted(tokens, 'token')} will stop working with the next request.`} This cannot be undone.</p>`,
    form({
      submit: 'Delete service account',
      busy: 'Deleting…',
      danger: true,
      cancel: () => dialog.close(),
      async send() {
        await answered?.();
        try {
          await call('DELETE', `${accountsPath}/${account.id}`);
        } catch (error) {
          if (error.status !== 404) throw error; // it is gone already
        }
        dialog.close();
        await deleted(account);
      },
    }),
  ]);
}
