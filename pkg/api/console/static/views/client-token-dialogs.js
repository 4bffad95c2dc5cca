// The dialogs that create, change and revoke client tokens.

import { call } from '../api.js';
import { kinds, tokenPath, tokensPath, tokensPathOf, tryUrl } from '../client-token.js';
import { combobox } from '../combobox.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { keepControls } from '../draft.js';
import { expiry, expiryChoice } from '../expiry.js';
import { knownProjects } from '../project.js';
import { fold } from '../search.js';
import { showSecret, tryCommand } from '../secret.js';
import { element, html, nothing } from '../template.js';
import { relativeTime, shortDate } from '../time.js';

/**
 * Creates a client token.
 * @param {Object[]} environments
 * @param {(message: string) => void} changed called after the secret was shown
 * @param {string} [project] the only one of the token; otherwise the dialog asks
 */
export function openCreation(environments, changed, project = undefined) {
  let created = false;
  const name = element(html`<input name="tokenName" autocomplete="off" dir="auto" required>`);
  const kind = element(html`<select name="type" @change=${explain}>${Object.entries(kinds).map(([value, item]) => html`<option value=${value}>${item.name}</option>`)}</select>`);
  const explanation = element(html`<span></span>`);
  const environment = element(html`<select name="environment">${environments.map((item) => html`<option value=${item.name}>${item.name}</option>`)}</select>`);
  const projects = element(html`<input name="projects" required autocomplete="off" spellcheck="false">`);
  const expires = expiryChoice({ never: true, chosen: 'never' });
  const dialog = openDialog('Create a client token', () => [
    form({ submit: 'Create token', busy: 'Creating…', cancel: () => draft.leave(), send },
      field('Name', name, 'The application that uses it, for example “shop server”.'),
      field('Type', kind, explanation),
      field('Environment', environment),
      project === undefined ? field('Projects', projects, 'Those whose toggles the token contains, separated by commas. * is all projects, also those that are created later.', projectBox(projects)) : nothing,
      expires.fields),
  ], () => created && changed(`The token “${name.value}” was created.`), () => leave());
  explain();
  const draft = keepControls(dialog, { name, kind, environment, projects, ...expires.controls },
    { kind: 'client-token', about: project ?? null, title: 'a new client token' });
  let { leave } = draft;
  name.focus();

  function explain() {
    explanation.textContent = kinds[kind.value].about;
  }

  async function send() {
    if (name.value.trim() === '') throw new FieldError('tokenName', 'Enter a name.');
    const chosen = [...new Set(split(projects.value))];
    if (project === undefined && chosen.length === 0) throw new FieldError('projects', 'Enter a project, or * for all projects.');
    const { secret, tokenName } = await call('POST', project === undefined ? tokensPath : tokensPathOf(project), {
      tokenName: name.value, type: kind.value, environment: environment.value,
      ...project === undefined && { projects: chosen }, expiresAt: expires.value(),
    }).catch((error) => { throw ofProjects(error, chosen); });
    created = true;
    draft.end();
    leave = showSecret(dialog, { secret, name: tokenName, command: tryUrl(kind.value) && tryCommand(tryUrl(kind.value)) });
    if (!dialog.open) { // closed while the request was under way
      document.querySelector('main').append(dialog);
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
    html`<p>${token.expiresAt === null ? 'The token never expires.'
      : `The token ${expiry(token)?.kind === 'bad' ? 'has expired' : 'expires'} on ${shortDate(token.expiresAt)}.`}</p>`,
    expires.fields),
  ]);
}

/** How long the old secret of a token can stay valid, in hours. */
const overlaps = [[1, '1 hour'], [24, '24 hours'], [168, '7 days'], [720, '30 days']];

/**
 * Gives a client token a second secret.
 * @param {Object} token
 * @param {(message: string) => void} changed called after the secret was shown
 * @param {string} [path] its path in the list of all or in that of its project
 */
export function openRotation(token, changed, path = tokenPath(token)) {
  let created = false;
  let leave = () => dialog.close();
  const overlap = element(html`<select name="overlapHours">${overlaps.map(([hours, label]) => html`<option value=${hours} ?selected=${hours === 24}>${label}</option>`)}</select>`);
  const dialog = openDialog(['Rotate ', text(token.tokenName)], () => [
    html`<p>This creates a second secret of the token. The old one stays valid for a while, in which the applications change to the new one.</p>`,
    form({ submit: 'Create the new secret', busy: 'Creating…', cancel: () => dialog.close(), send },
      field('The old secret stays valid for', overlap, 'You can revoke it earlier.')),
  ], () => created && changed(`The token “${token.tokenName}” has a second secret.`), () => leave());

  async function send() {
    const { secret, tokenName } = await call('POST', `${path}/rotate`, { overlapHours: Number(overlap.value) });
    created = true;
    leave = showSecret(dialog, { secret, name: tokenName, command: tryUrl(token.type) && tryCommand(tryUrl(token.type)) });
    if (!dialog.open) { // closed while the request was under way
      document.querySelector('main').append(dialog);
      dialog.showModal();
    }
  }
}

/** Revokes a client token, or one of its two secrets, after a question, by its path in the list of all or in that of its project. */
export function openRevocation(token, changed, path = tokenPath(token)) {
  const dialog = openDialog(['Revoke ', text(token.tokenName), '?'], () => [
    html`<p>Applications with this ${token.validUntil === null ? 'token' : 'old secret'} can no longer get the toggles of ${text(token.environment)}. This cannot be undone.</p>`,
    token.seenAt === null ? nothing : html`<p class="notice warn">It was last used ${relativeTime(new Date(token.seenAt))}.</p>`,
    form({
      submit: 'Revoke token', busy: 'Revoking…', danger: true, cancel: () => dialog.close(),
      async send() {
        await call('DELETE', path).catch((error) => {
          if (error.status !== 404) throw error; // it is gone already
        });
        dialog.close();
        await changed(`The token “${token.tokenName}” was revoked.`);
      },
    }),
  ]);
}

const split = (value) => value.split(',').map((name) => name.trim()).filter(Boolean);

/** Names the project that an error is about. */
function ofProjects(error, chosen) {
  const [, index] = error.details?.map(({ path }) => /^\/body\/projects\/(\d+)$/.exec(path)).find(Boolean) ?? [];
  return index === undefined ? error : new FieldError('projects', `There is no project with the ID “${chosen[index]}”.`);
}

/** Proposes existing projects for the last name in a list of them. */
function projectBox(input) {
  return combobox(input, {
    free: true,
    choices: async () => {
      const known = (await knownProjects().catch(() => [])).map(({ id }) => id);
      const names = input.value.split(',').map((name) => name.trim());
      const last = known.includes(names.at(-1)) ? '' : names.pop();
      const chosen = names.filter(Boolean);
      return known.filter((name) => !chosen.includes(name) && fold(name).startsWith(fold(last)))
        .map((name) => ({ value: [...chosen, name].join(', '), label: [...chosen, name].join(', ') }));
    },
  }).element;
}
