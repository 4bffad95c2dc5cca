// What a person or a service account may do, in the whole service, in a project, and in one of its environments.

import { call } from '../api.js';
import { combobox } from '../combobox.js';
import { failure, loading } from '../dom.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { knownProjects, projectAddress, projectChoices, projectPath } from '../project.js';
import { editorInOpen, grants } from '../rights.js';
import { loadRole, roleAddress } from '../role.js';
import { numberTable } from '../table.js';
import { element, html, live, nothing } from '../template.js';

/**
 * The part of a page that says what an account may do. The address of the page has the project and the environment.
 * @param {{path: string, id: string, address: string}} account `path` is that of its kind in the API
 * @param {{search: URLSearchParams, signal: AbortSignal}} context of the page
 * @param {() => void} draw
 */
export function accountRights({ path, id, address }, { search, signal }, draw) {
  const state = {
    project: search.get('project') ?? '',
    environment: search.get('environment') ?? '',
    environments: [],
    shown: null, // the project of the answer: {id, name, mode}
    root: null, // the root role
    member: null, // the role Member, whose permissions Editors have in open projects
    answer: null,
    error: null,
  };
  const input = element(html`<input aria-label="Project" placeholder="Choose a project" value=${state.project}>`);
  const box = combobox(input, { choices: async (text) => projectChoices(await knownProjects().catch(() => []), text), choose: (project) => choose({ project }) });
  let retry = () => {}; // loads it again
  let pending = Promise.resolve(); // the latest requests about the account
  return { load, answered, template };

  /** Waits until the requests about the account are answered. */
  function answered() {
    return pending.catch(() => {}); // the page says why
  }

  /** @param {number} rootRole of the account, by its id */
  async function load(rootRole) {
    state.error = null;
    retry = () => load(rootRole);
    pending = ask();
    try {
      [state.environments, state.root, state.member] = await Promise.all([
        loadEnvironments(signal), loadRole(rootRole, signal), loadRole(5, signal), pending,
      ]);
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  async function ask() {
    const { project, environment } = state;
    const query = new URLSearchParams(Object.entries({ project, environment: project && environment }).filter(([, value]) => value));
    const [answer, overview] = await Promise.all([
      call('GET', `/api/admin/${path}/${encodeURIComponent(id)}/permissions?${query}`, undefined, { signal }),
      project && call('GET', `${projectPath(project)}/overview`, undefined, { signal }),
    ]);
    if (project === state.project && environment === state.environment) Object.assign(state, { answer, shown: project ? { ...overview, id: project } : null });
  }

  /** Shows the answer for another project or environment in the same entry of the history. */
  async function choose(changes) {
    Object.assign(state, changes);
    const query = new URLSearchParams(Object.entries({ project: state.project, environment: state.environment }).filter(([, value]) => value));
    window.history.replaceState(null, '', `${address}${query.size > 0 ? '?' : ''}${query}`);
    state.error = null;
    pending = ask();
    try {
      await pending;
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function template(name) {
    const { answer, root, error, environment, environments } = state;
    return html`<section aria-label="What it may do" class="rights">
      <h2>What may <bdi>${name}</bdi> do?</h2>
      <div class="finder">${box.element}
        ${state.project ? html`<select aria-label="Environment" @change=${({ target }) => choose({ environment: target.value })}>
          <option value="">Choose an environment</option>
          ${environments.map((one) => html`<option value=${one.name} .selected=${live(one.name === environment)}>${one.name}</option>`)}</select>` : nothing}</div>
      ${error ? failure(error, retry) : !answer || !root ? loading('what it may do') : shown(answer)}</section>`;
  }

  function shown({ overview, projectRoles }) {
    const { root: rootRole } = state;
    if (rootRole.id === 1) return html`<p>Everything, because the root role is <a href=${roleAddress(rootRole)}>Admin</a>.</p>`;
    const project = state.shown;
    const where = environmentName(state.environments.find(({ name }) => name === state.environment) ?? { name: state.environment });
    const link = (one) => html`<a href=${projectAddress(one.id)}><bdi>${one.name}</bdi></a>`;
    const inProject = (one) => reasons(one, project, projectRoles);
    const inService = (one) => (grants(rootRole, one.name) ? [rootRole] : []);
    return html`
      ${project && overview.environment.length > 0 ? html`<h3>In ${where} of ${link(project)}</h3>
        ${table(`In ${state.environment} of ${project.name}`, overview.environment, inProject)}` : nothing}
      ${project ? html`<h3>In ${link(project)}</h3>${table(`In ${project.name}`, overview.project, inProject)}` : nothing}
      <h3>In the whole service</h3>${table('In the whole service', overview.root.filter(({ name }) => name !== 'ADMIN'), inService)}`;
  }

  /** The roles by which an account has a permission in a project. */
  function reasons({ name, environment }, { mode }, projectRoles) {
    const { root, member } = state;
    const isEditor = mode === 'open' && root.id === 2 && editorInOpen(name, grants(member, name));
    return [...projectRoles.filter((role) => grants(role, name, environment)), ...isEditor ? [root] : []];
  }

  /** @param {(permission: Object) => Object[]} by the roles that are known to give a permission. Otherwise, a group does. */
  function table(caption, permissions, by) {
    return numberTable(caption, ['Permission', 'May', 'By the role'], permissions.map((permission) => {
      const { displayName, name, hasPermission } = permission;
      const roles = hasPermission ? by(permission) : [];
      return [
        html`${displayName} <small><code>${name}</code></small>`,
        hasPermission ? html`<span class="holds"><span aria-hidden="true">✓ </span>Yes</span>` : html`<span class="detail">No</span>`,
        !hasPermission ? html`<span class="detail">–</span>` : roles.length === 0 ? 'That of a group'
          : html`<span>${roles.map((role, i) => html`${i > 0 ? ', ' : nothing}<a href=${roleAddress(role)}><bdi>${role.name}</bdi></a>`)}</span>`,
      ];
    }));
  }
}
