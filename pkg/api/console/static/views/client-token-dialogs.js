// The dialogs that create, change and revoke client tokens.

import { call } from '../api.js';
import { kinds, tokenPath, tokensPath, tryUrl } from '../client-token.js';
import { combobox } from '../combobox.js';
import { FieldError, append, field, form, h, openDialog, shortDate, text, time } from '../dom.js';
import { keepControls } from '../draft.js';
import { expiry, expiryChoice } from '../expiry.js';
import { fold } from '../search.js';
import { showSecret, tryCommand } from '../secret.js';
import { countToggles } from '../toggle.js';

/**
 * Creates a client token.
 * @param {Object[]} environments
 * @param {AbortSignal} signal of the page
 * @param {(message: string) => void} changed called after the secret was shown
 */
export function openCreation(environments, signal, changed) {
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
    leave = showSecret(dialog, { secret, name: tokenName, command: tryUrl(kind.value) && tryCommand(tryUrl(kind.value)) });
    if (!dialog.open) { // closed while the request was under way
      append(document.querySelector('main'), dialog);
      dialog.showModal();
    }
  }
}

/** Changes when a client token expires. */
export function openExpiry(token, changed) {
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

/** Revokes a client token after a question. */
export function openRevocation(token, changed) {
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
