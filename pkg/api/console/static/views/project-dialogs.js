// The dialogs that create, archive, revive and delete a project.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { keepControls } from '../draft.js';
import { leaveFor } from '../editor.js';
import { forgetProjects, modes, projectAddress, projectPath, projectsPath } from '../project.js';
import { element, html } from '../template.js';

const mostCharacters = 100; // of an id

/** The id that is proposed for a name: "Payments & Invoices" is payments-invoices. */
export const proposedId = (name) => name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  .replace(/[^a-z0-9._~-]+/g, '-').slice(0, mostCharacters).replace(/^[-.]+|-+$/g, '');

/** Asks for the properties of a new project, creates it, and shows it. */
export function openProjectCreation({ announce, reloadPermissions }) {
  let isProposed = true; // the id, by the name
  let created = null; // the project, whose pattern is still to be set
  const controls = {
    name: element(html`<input name="name" autocomplete="off" dir="auto" maxlength="100" required @input=${propose} @change=${propose}>`),
    id: element(html`<input name="id" autocomplete="off" spellcheck="false" @input=${() => { isProposed = controls.id.value === ''; }}>`),
    mode: element(html`<select name="mode" @change=${explain}>${Object.entries(modes).map(([value, { name }]) => html`<option value=${value}>${name}</option>`)}</select>`),
    description: element(html`<textarea name="description" rows="2" maxlength="1000" dir="auto"></textarea>`),
    pattern: element(html`<input name="featureNaming/pattern" autocomplete="off" spellcheck="false">`),
    example: element(html`<input name="featureNaming/example" autocomplete="off" spellcheck="false">`),
  };
  const explanation = element(html`<span></span>`);
  const dialog = openDialog('Create a project', () => [
    form({ submit: 'Create project', busy: 'Creating…', cancel: () => (created ? end() : draft.leave()), send },
      field('Name', controls.name, 'For people. It can be changed later.'),
      field('ID', controls.id, 'For addresses, the API and applications. It cannot be changed later.'),
      field('Mode', controls.mode, html`${explanation} You are its Owner, and can make others members.`),
      field('Description', controls.description, 'What the project is for.'),
      html`<div class="pair">${field('Pattern for the names of toggles', controls.pattern, 'A regular expression. Empty: any name.')}
        ${field('Example', controls.example, 'A name that matches.')}</div>`),
  ], undefined, () => (created ? end() : draft.leave()));
  const draft = keepControls(dialog, controls, { kind: 'project', about: null, title: 'a new project' });
  explain();
  isProposed = controls.id.value === proposedId(controls.name.value);
  controls.name.focus();

  function explain() {
    explanation.textContent = modes[controls.mode.value].about;
  }

  function propose() {
    if (isProposed) controls.id.value = proposedId(controls.name.value);
  }

  async function send() {
    if (!created) await create();
    const pattern = controls.pattern.value.trim();
    if (pattern !== '') await call('PUT', `${projectPath(created.id)}/settings`, { featureNaming: { pattern, example: controls.example.value.trim() || null } });
    else if (controls.example.value.trim() !== '') throw new FieldError('featureNaming/pattern', 'Enter the pattern that the example matches.');
    end();
  }

  async function create() {
    const name = controls.name.value.trim();
    if (name === '') throw new FieldError('name', 'Enter a name.');
    created = await call('POST', projectsPath, {
      name, id: controls.id.value.trim(), mode: controls.mode.value, description: controls.description.value || null,
    });
    draft.end();
    for (const control of [controls.name, controls.id, controls.mode, controls.description]) control.disabled = true;
    forgetProjects();
    await reloadPermissions().catch(() => {}); // the page asks for them again when it is loaded
  }

  /** Shows the project. */
  function end() {
    dialog.close();
    leaveFor(projectAddress(created.id), () => announce(`Project ${created.name} created.`));
  }
}

/**
 * The changes of the state of a project: `title`, `explain` and the request.
 * @type {Object<string, {label: string, past: string, busy: string, danger?: boolean, title: string, explain: string, send: (id: string) => Promise<unknown>}>}
 */
const changes = {
  archive: {
    label: 'Archive', past: 'archived', busy: 'Archiving…', danger: true, title: 'Archive ',
    explain: 'Nothing can be created in it until it is revived. It must have no toggle that is not archived.',
    send: (id) => call('POST', `${projectsPath}/archive/${encodeURIComponent(id)}`),
  },
  revive: {
    label: 'Revive', past: 'revived', busy: 'Reviving…', title: 'Revive ',
    explain: 'It is in the list of projects again. Its toggles stay archived.',
    send: (id) => call('POST', `${projectsPath}/revive/${encodeURIComponent(id)}`),
  },
  delete: {
    label: 'Delete', past: 'deleted', busy: 'Deleting…', danger: true, title: 'Delete ',
    explain: 'Its members lose their roles in it. It must have no toggles, segments and client tokens of its own. This cannot be undone.',
    send: (id) => call('DELETE', projectPath(id)).catch((error) => {
      if (error.status !== 404) throw error; // it is gone already
    }),
  },
};

/**
 * Asks, and archives, revives or deletes a project.
 * @param {'archive'|'revive'|'delete'} name of the change
 * @param {{id: string, name: string}} project
 * @param {(message: string) => void} changed
 * @param {() => Promise<unknown>} answered waits until the page asks nothing more about the project
 */
export function openProjectChange(name, project, changed, answered) {
  const { label, past, busy, danger, title, explain, send } = changes[name];
  const dialog = openDialog([title, text(project.name), '?'], () => [
    html`<p>${explain}</p>`,
    form({
      submit: `${label} project`, busy, danger, cancel: () => dialog.close(),
      async send() {
        await answered();
        await send(project.id);
        forgetProjects();
        dialog.close();
        changed(`Project ${project.name} ${past}.`);
      },
    }),
  ]);
}
