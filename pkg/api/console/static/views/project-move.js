// The dialog that moves a toggle to another project.

import { call } from '../api.js';
import { combobox } from '../combobox.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { leaveFor } from '../editor.js';
import { knownProjects, projectChoices } from '../project.js';
import { element, html } from '../template.js';
import { changedToggles, forgetCounts, toggleAddress, togglePath } from '../toggle.js';

const permission = 'MOVE_FEATURE_TOGGLE'; // in both projects

/** Reports whether the user may move toggles to another project than the one with an id. */
export const hasOtherProject = (id, { projectsFor }) => projectsFor(permission)?.every((other) => other === id) !== true;

/**
 * Asks for a project, and moves a toggle there.
 * @param {{name: string, project: string}} toggle
 * @param {Object} context of the page
 */
export function openMove(toggle, { announce, projectsFor }) {
  const allowed = projectsFor(permission);
  const input = element(html`<input name="newProjectId" required placeholder="Search projects">`);
  let chosen = '';
  const box = combobox(input, {
    choices: async (entered) => projectChoices((await knownProjects().catch(() => [])).filter(({ id }) => (
      id !== toggle.project && (allowed === null || allowed.includes(id)))), entered),
    choose: (value) => { chosen = value; },
  });
  const dialog = openDialog(['Move ', text(toggle.name), ' to another project'], () => [
    html`<p>It keeps its strategies, usage and history. Client tokens of ${text(toggle.project)} no longer contain it. Those of the other project do, from the
      next time that an application asks.</p>`,
    form({ submit: 'Move', busy: 'Moving…', cancel: () => dialog.close(), send },
      field('Project', input, 'Those in which you may move toggles.', box.element)),
  ]);
  input.focus();

  async function send() {
    if (chosen === '') throw new FieldError('newProjectId', 'Choose a project.');
    await move(toggle, chosen);
    const moved = { ...toggle, project: chosen };
    dialog.close();
    leaveFor(toggleAddress(moved), () => announce(`${toggle.name} is in the project ${chosen}.`, async () => {
      await move(moved, toggle.project);
      if (window.location.hash.startsWith(toggleAddress(moved))) window.location.hash = toggleAddress(toggle);
      else changedToggles();
      return `${toggle.name} is in the project ${toggle.project} again.`;
    }));
  }
}

async function move(toggle, newProjectId) {
  await call('POST', `${togglePath(toggle)}/changeProject`, { newProjectId });
  forgetCounts();
}
