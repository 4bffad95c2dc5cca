// What the caller may do in projects and their environments. This module imports nothing.

const admin = 'ADMIN'; // includes all permissions
const all = '*'; // projects, or environments
const none = 'NONE'; // in a project in which those of all projects do not count

/**
 * Makes an index of the caller's permissions.
 * @param {{permission: string, project?: string, environment?: string}[]} permissions as in `GET /api/admin/user`
 */
export function permissionIndex(permissions) {
  const index = new Map(); // by name: the environments by project, null for a permission of the type root
  const apart = new Set(permissions.filter(({ permission }) => permission === none).map(({ project }) => project));
  for (const { permission, project = null, environment = all } of permissions) {
    if (!index.has(permission)) index.set(permission, new Map());
    const projects = index.get(permission);
    if (!projects.has(project)) projects.set(project, new Set());
    projects.get(project).add(environment);
  }
  return { may, projectsFor, hasRole };

  /**
   * Reports whether the caller has a permission: in a project and in an environment, or, without them, in at least one.
   * @param {string} permission
   * @param {string} [project]
   * @param {string} [environment]
   * @returns {boolean}
   */
  function may(permission, project, environment) {
    if (index.has(admin)) return true;
    const projects = index.get(permission);
    if (!projects || projects.has(null)) return projects !== undefined;
    if (project === undefined) return true;
    return (apart.has(project) ? [project] : [project, all]).some((one) => {
      const environments = projects.get(one);
      return environments !== undefined && (environment === undefined || environments.has(all) || environments.has(environment));
    });
  }

  /** Reports whether the caller has a role in a project. One that permits nothing is not known. */
  function hasRole(project) {
    return [...index].some(([name, projects]) => name !== none && projects.has(project));
  }

  /** The ids of the projects in which the caller has a permission, or null for all of them with some exceptions. */
  function projectsFor(permission) {
    if (index.has(admin)) return null;
    const projects = [...index.get(permission)?.keys() ?? []];
    return projects.includes(null) || projects.includes(all) ? null : projects;
  }
}
