// The project that lists show, or all of them: the choice in the navigation. The address of a list has it, and what the address of the latest
// list had is remembered for the next one, also after the browser was closed.

import { combobox } from './combobox.js';
import { knownProjects, projectChoices } from './project.js';
import { element, html } from './template.js';

const storage = window.localStorage;
const key = 'toggleadmin.project';

/** Returns the project that was chosen by a user, null for an API token, or '' for all projects. */
export function rememberedProject(user) {
  const { user: of, project } = JSON.parse(storage.getItem(key)) ?? {};
  return of === (user?.id ?? null) && typeof project === 'string' ? project : '';
}

export function rememberProject(user, project) {
  if (project === '') forgetProject();
  else storage.setItem(key, JSON.stringify({ user: user?.id ?? null, project }));
}

export function forgetProject() {
  storage.removeItem(key);
}

/** The address of a page that shows a project, or all of them. */
export const withProject = (address, project) => (project === '' ? address : `${address}?${new URLSearchParams({ project })}`);

/** The address of a list with its other filters, for another project. It begins with the first part of the list. */
export function changeProject(hash, project) {
  const [address, query] = hash.split('?');
  const parameters = new URLSearchParams(query);
  for (const name of ['project', 'offset', 'cursor']) parameters.delete(name);
  if (project !== '') parameters.set('project', project);
  return `${address}${parameters.size > 0 ? '?' : ''}${parameters}`;
}

/**
 * The input that chooses a project.
 * @param {(project: string) => void} choose
 * @returns {{element: HTMLElement, set: (project: string) => void}}
 */
export function projectSwitcher(choose) {
  const input = element(html`<input placeholder="All projects" aria-label="Project that lists show">`);
  const all = { value: '', label: 'All projects' };
  let chosen = '';
  const box = combobox(input, {
    choices: async (text) => [...text === '' ? [all] : [], ...projectChoices(await knownProjects().catch(() => []), text)],
    choose: (project) => {
      if (project === '') box.set('');
      if (project !== chosen) choose(project);
    },
  });
  return {
    element: box.element,
    set(project) {
      if (project === chosen) return; // what is being entered stays
      chosen = project;
      box.set(project);
    },
  };
}
