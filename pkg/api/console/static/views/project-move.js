// The dialog that moves a toggle to another project.

import { combobox } from '../combobox.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { leaveFor } from '../editor.js';
import { livePlaces } from '../environment.js';
import { knownProjects, projectChoices } from '../project.js';
import { element, html } from '../template.js';
import { changedToggles, forgetCounts, toggleAddress, togglePath } from '../toggle.js';
import { makeChange } from './change-sheet.js';

const permission = 'MOVE_FEATURE_TOGGLE'; // in both projects

/** Reports whether the user may move toggles to another project than the one with an id. */
export const hasOtherProject = (id, { projectsFor }) => projectsFor(permission)?.every((other) => other === id) !== true;

/**
 * Asks for a project, and moves a toggle there.
 * @param {{name: string, project: string}} toggle
 * @param {Object} context of the page
 */
export function openMove(toggle, context) {
  const { announce, may } = context;
  const input = element(html`<input name="newProjectId" required placeholder="Search projects">`);
  let chosen = '';
  const box = combobox(input, {
    choices: async (entered) => projectChoices((await knownProjects().catch(() => [])).filter(({ id }) => (
      id !== toggle.project && may(permission, id))), entered),
    choose: (value) => { chosen = value; },
  });
  const dialog = openDialog(['Move ', text(toggle.name), ' to another project'], () => [
    html`<p>It keeps its strategies, usage and history. Client tokens of ${text(toggle.project)} no longer contain it. Those of the other project do, from the
      next poll of an application.</p>`,
    form({ submit: 'Move', busy: 'Moving…', cancel: () => dialog.close(), send },
      field('Project', input, 'Those in which you may move toggles.', box.element)),
  ]);
  input.focus();

  async function send() {
    if (chosen === '') throw new FieldError('newProjectId', 'Choose a project.');
    const moved = { ...toggle, project: chosen };
    const result = await move(toggle, chosen, `Move to ${chosen}`, context);
    if (result !== 'made') return;
    dialog.close();
    leaveFor(toggleAddress(moved), () => announce(`${toggle.name} is in the project ${chosen}.`, async () => {
      if (await move(moved, toggle.project, 'Undo', context) !== 'made') return undefined;
      if (window.location.hash.startsWith(toggleAddress(moved))) window.location.hash = toggleAddress(toggle);
      else changedToggles();
      return `${toggle.name} is in the project ${toggle.project} again.`;
    }));
  }
}

/** Moves a toggle. In production, client tokens of one project lose it where it is on, and those of the other one get it. */
export function move(toggle, newProjectId, submit, context) {
  const { project, name } = toggle;
  return makeChange({
    title: ['Move ', text(name), ' to another project?'],
    submit,
    items: [{
      name,
      toggles: [toggle],
      places: [...livePlaces(toggle), ...livePlaces({ ...toggle, project: newProjectId })],
      permission,
      lines: () => [{ label: 'Project: ', from: project, to: newProjectId }],
    }],
    async send({ write }) {
      await write('POST', `${togglePath(toggle)}/changeProject`, { newProjectId });
      forgetCounts();
    },
  }, context);
}
