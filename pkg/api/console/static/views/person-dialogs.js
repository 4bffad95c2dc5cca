// The dialogs that add, change, disable and delete people.

import { loadTokensOf } from '../all-tokens.js';
import { call, read } from '../api.js';
import { mergeForm, save } from '../conflict.js';
import { FieldError, field, form, openDialog, openLoadedDialog } from '../dialog.js';
import { counted, text } from '../dom.js';
import { keepControls, writer } from '../draft.js';
import { loadGrants, peoplePath, personPath } from '../person.js';
import { roleSelect } from '../role-select.js';
import { element, html, nothing, render } from '../template.js';

const labels = { name: 'Name', email: 'E-mail', rootRole: 'Root role' };

/**
 * Opens the dialog that adds a person, or changes one.
 * @param {Object|null} person
 * @param {Object[]} roles the root roles
 * @param {{signal: AbortSignal, announce: (message: string) => void}} context of the page
 * @param {(person: Object) => void} saved called after it
 */
export async function openPersonEditor(person, roles, { signal, announce }, saved) {
  let opened = null;
  try {
    if (person) opened = await read(personPath(person.id), { signal });
  } catch (error) {
    if (!signal.aborted) announce(`${person.name} cannot be edited. ${error.message}`);
    return;
  }
  const begun = opened?.content ?? { name: '', email: '', rootRole: 3 };
  const role = roleSelect(roles, begun.rootRole);
  const controls = {
    name: element(html`<input name="name" autocomplete="off" dir="auto" value=${begun.name}>`),
    email: element(html`<input name="email" type="email" autocomplete="off" spellcheck="false" required value=${begun.email ?? ''}>`),
    rootRole: role.control,
  };
  const changes = element(html`<div></div>`);
  const dialog = openDialog(person ? ['Edit ', text(person.name)] : 'Add a person', () => [
    form({ submit: person ? 'Save' : 'Add person', busy: person ? 'Saving…' : 'Adding…', cancel: () => draft.leave(), send },
      changes,
      field(labels.email, controls.email, 'With which the person signs in at the issuer. Nothing is sent to it.'),
      field(labels.name, controls.name, person ? undefined : 'Without a name, people see the e-mail address.'),
      field(labels.rootRole, controls.rootRole, undefined, role.shown)),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: 'person', about: person?.id ?? null, title: person ? `changes of ${person.name}` : 'a new person',
  });
  role.describe(); // of a draft
  controls.email.focus();

  async function send() {
    const name = controls.name.value.trim();
    const body = { email: controls.email.value.trim(), rootRole: Number(controls.rootRole.value), ...(name !== '' || person) && { name } };
    if (body.email === '') throw new FieldError('email', 'Enter an e-mail address.');
    let result;
    try {
      if (!opened) result = await call('POST', peoplePath, body);
      else {
        const answer = await save(personPath(person.id), body, opened, labels);
        if (answer.now) {
          render(mergeForm({
            before: opened.content, mine: body, theirs: answer.now.content, labels, write: writer(controls),
            say: (property, value) => (property === 'rootRole' ? roles.find(({ id }) => id === value)?.name : undefined),
          }), changes);
          opened = answer.now;
          role.describe();
          return;
        }
        ({ result } = answer);
      }
    } catch (error) {
      // The API names no place for the rule that one Admin stays.
      if (error.status === 409 && error.details.length === 0) throw new FieldError('rootRole', error.message);
      throw error;
    }
    draft.done();
    await saved(result);
  }
}

/**
 * Disables a person after a question, or enables one. Both can be undone.
 * @param {{id: number, name: string, disabled: boolean}} person
 * @param {(message: string, undo?: () => Promise<string>) => void} announce
 * @param {() => Promise<void>} changed
 */
export async function openDisabling(person, announce, changed) {
  const { id, name } = person;
  const set = (disabled) => call('PUT', `${personPath(id)}/disabled`, { disabled });
  const said = (disabled) => `${name} was ${disabled ? 'disabled' : 'enabled'}.`;
  const done = async (disabled) => {
    announce(said(disabled), async () => {
      await set(!disabled);
      await changed();
      return said(!disabled);
    });
    await changed();
  };
  if (person.disabled) {
    try {
      await set(false);
      await done(false);
    } catch (error) {
      announce(`${name} was not enabled. ${error.message}`);
    }
    return;
  }
  const dialog = openDialog(['Disable ', text(name), '?'], () => [
    html`<p>The person is signed out, and all tokens of the person are rejected, from the next request on. Roles, groups and tokens stay, and work again after “Enable”.</p>`,
    form({
      submit: 'Disable', busy: 'Disabling…', danger: true, cancel: () => dialog.close(),
      async send() {
        await set(true);
        dialog.close();
        await done(true);
      },
    }),
  ]);
}

/**
 * Deletes a person after a question, which says what ends.
 * @param {{id: number, name: string, groups: Object[]}} person
 * @param {(person: Object) => void} deleted called after it
 * @param {() => Promise<unknown>} [answered] waits until the page asks nothing more about the person
 */
export function openDeletion(person, deleted, answered = undefined) {
  const { id, name, groups } = person;
  openLoadedDialog(['Delete ', text(name), '?'], 'what ends', (signal) => loadOwn(person, signal), ({ tokens, projects }, close) => [
    html`<p>With the next request, these end:</p>
      <ul class="sentences">
        <li>the sessions of the person</li>
        ${tokens === 0 ? nothing : html`<li>${counted(tokens, 'token')}, with everything that uses ${tokens === 1 ? 'it' : 'them'}</li>`}
        ${groups.length === 0 ? nothing : html`<li>the membership in ${groups.length === 1 ? html`the group ${text(groups[0].name)}` : counted(groups.length, 'group')}</li>`}
        ${projects === 0 ? nothing : html`<li>the roles in ${counted(projects, 'project')}</li>`}
      </ul>
      <p>This cannot be undone. The event log keeps what the person did, without the name. To end it only for now, disable the person.</p>`,
    form({
      submit: 'Delete person', busy: 'Deleting…', danger: true, cancel: close,
      async send() {
        await answered?.();
        await call('DELETE', personPath(id)).catch((error) => {
          if (error.status !== 404) throw error; // the person is gone already
        });
        close();
        await deleted(person);
      },
    }),
  ]);
}

/** Loads how many tokens a person has, and in how many projects own roles. */
async function loadOwn({ id }, signal) {
  const [tokens, projects] = await Promise.all([loadTokensOf(id, signal), loadGrants({ users: [id] }, signal)]);
  return { tokens: tokens.length, projects: projects.length };
}
