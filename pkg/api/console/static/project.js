// Projects in all views: their API, addresses and modes, and inputs that propose them.

import { call } from './api.js';
import { cached } from './cached.js';
import { combobox } from './combobox.js';
import { counted } from './dom.js';
import { fold } from './search.js';
import { element, html, nothing } from './template.js';

export const projectsPath = '/api/admin/projects';

/** The path of a project in the API. */
export const projectPath = (id) => `${projectsPath}/${encodeURIComponent(id)}`;

/** The address of the page of a project, with one of its tabs. */
export const projectAddress = (id, tab) => `#/projects/${id}${tab ? `?${new URLSearchParams({ tab })}` : ''}`;

/** The address of the comparison of two environments of a project. */
export const comparisonAddress = (id) => `#/projects/${id}/compare`;

/** The modes of projects, and what they mean. */
export const modes = {
  open: { name: 'Open', about: 'Everybody sees it. Editors and members change its toggles.' },
  protected: { name: 'Protected', about: 'Everybody sees it. Only members change its toggles.' },
  private: { name: 'Private', about: 'Only members and Admins see it.' },
};

/** The mode of a project, as a mark. */
export const modeBadge = ({ mode }) => html`<span class="badge ${mode === 'open' ? 'quiet' : ''}" title=${modes[mode].about}>${modes[mode].name}</span>`;

/** The names of the owners of a project. */
export const ownerNames = (owners) => owners.filter(({ ownerType }) => ownerType !== 'system').map(({ name, email }) => name ?? email ?? '');

/** The links that new toggles of a project have, as `{url, title}`. */
export const projectLinks = (project, toggle) => (project?.linkTemplates ?? []).map(({ title, urlTemplate }) => (
  { title, url: urlTemplate.replaceAll('{{project}}', project.id).replaceAll('{{feature}}', toggle) }));

/** The mark of an archived project. */
export const archivedBadge = ({ archivedAt }) => (archivedAt ? html`<span class="badge quiet">Archived</span>` : nothing);

/**
 * Loads the projects that the caller sees.
 * @param {AbortSignal} [signal]
 * @param {boolean} [archived] whether archived ones are among them
 * @returns {Promise<Object[]>}
 */
export async function loadProjects(signal, archived = false) {
  return (await call('GET', `${projectsPath}${archived ? '?archived=all' : ''}`, undefined, { signal })).projects;
}

const longest = 30_000; // how long inputs propose the same projects, in milliseconds
const known = cached(() => loadProjects(), longest);

/** Loads the projects for inputs that propose them: once for all that ask at about the same time. */
export const knownProjects = () => known.get();

/** Forgets the projects after a change. */
export const forgetProjects = () => known.forget();

/** The projects whose id or name contains a text, as choices of a combobox. Those that begin with it are first. */
export function projectChoices(projects, text) {
  const part = fold(text);
  const begins = ({ id, name }) => fold(id).startsWith(part) || fold(name).startsWith(part);
  const found = projects.filter(({ id, name }) => fold(id).includes(part) || fold(name).includes(part));
  return [...found.filter(begins), ...found.filter((project) => !begins(project))].map(({ id, name, featureCount }) => (
    { value: id, label: id, detail: [fold(name) === fold(id) ? '' : name, counted(featureCount, 'toggle')].filter(Boolean).join(' · ') }));
}

/**
 * Returns an input, and its combobox, that proposes projects. It is empty for all of them.
 * @param {string} value
 * @param {(value: string) => void} choose called after a choice, or after the input was emptied
 * @returns {{input: HTMLInputElement, element: HTMLElement, set: (value: string) => void}}
 */
export function projectInput(value, choose) {
  const input = element(html`<input id="project" placeholder="All projects" value=${value}>`);
  const box = combobox(input, { choices: async (text) => projectChoices(await knownProjects().catch(() => []), text), choose });
  return { input, ...box };
}
