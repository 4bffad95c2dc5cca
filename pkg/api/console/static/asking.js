// Where the caller may ask for changes without the permission to make them: in an open project everybody, in others those who have a role in it.

import { knownProjects } from './project.js';
import { knownProtections } from './protection.js';

/**
 * Finds out in which protected environments of some projects the caller may ask for changes. If that fails, controls say why the caller may not
 * use them.
 * @param {Map<string, Set<string>>} known gets the names of the environments by project
 * @param {string[]} projects
 * @param {(project: string) => boolean} hasRole
 */
export async function learn(known, projects, hasRole) {
  await Promise.all(projects.map(async (id) => {
    try {
      if (!hasRole(id) && !(await knownProjects()).some((project) => project.id === id && project.mode === 'open')) return;
      const asked = [...await knownProtections(id)].filter(([, { changeRequestEnabled }]) => changeRequestEnabled);
      known.set(id, new Set(asked.map(([name]) => name)));
    } catch {
      known.delete(id);
    }
  }));
}
