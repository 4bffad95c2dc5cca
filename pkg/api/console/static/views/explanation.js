// Why the caller may not do something: the permission, where it is needed, which roles have it, and whom to ask.

import { call } from '../api.js';
import { copyText } from '../clipboard.js';
import { openDialog } from '../dialog.js';
import { failure, loading, text } from '../dom.js';
import { editorInOpen } from '../rights.js';
import { loadPermissions, loadRolesWith, roleAddress } from '../role.js';
import { element, html, nothing, render } from '../template.js';

/** @typedef {import('../why.js').Need} Need */

/**
 * Opens the dialog that says why the caller may not do something.
 * @param {Need} need
 * @param {import('../why.js').Context} context of the page
 */
export function openExplanation(need, { announce }) {
  const controller = new AbortController();
  const place = element(html`<div class="why-not"></div>`);
  const dialog = openDialog(["Why can't I ", text(need.to), '?'], () => html`${place}
    <div class="buttons"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button>
      <button type="button" @click=${() => copyText(request(need), 'Request copied. Send it to those who can give you the role.', announce)}>Copy a request</button></div>`,
  () => controller.abort());
  show();

  async function show() {
    render(loading('who may'), place);
    try {
      const facts = await load(need, controller.signal);
      render(reasons(need, facts), place);
    } catch (error) {
      if (!controller.signal.aborted) render(failure(error, show), place);
    }
  }
}

/** Says in place of a page or a form why the caller may not use it. */
export const refusal = (need, context) => html`<div class="notice">
  <p>You may not ${text(need.to)}.</p>
  <p class="buttons"><button type="button" @click=${() => openExplanation(need, context)}>Why can't I?</button></p></div>`;

/**
 * What a person can send to those who can give a role.
 * @param {Need} need
 */
const request = ({ permission, project, environment, to }) => (
  `Please let me ${to}. I need the permission ${permission}${where(project, environment)}. ${window.location.href}`);

const where = (project, environment) => `${environment ? ` in the environment ${environment}` : ''}${
  project ? `${environment ? ' of' : ' in'} the project ${project}` : ''}`;

/**
 * Loads what the answer says: the roles that have the permission, those of the caller, the project, and what is known of the permission.
 * @param {Need} need
 * @param {AbortSignal} signal
 */
async function load({ permission, project, environment }, signal) {
  const [roles, own, overview, { root, project: inProject, environments }] = await Promise.all([
    loadRolesWith(permission, environment, signal),
    call('GET', '/api/admin/user/roles', undefined, { signal }),
    project && call('GET', `/api/admin/projects/${encodeURIComponent(project)}/overview`, undefined, { signal }),
    loadPermissions(signal),
  ]);
  const catalog = [...root, ...inProject, ...environments.flatMap(({ permissions }) => permissions)];
  return { roles, own: own.roles, overview, described: catalog.find(({ name }) => name === permission) };
}

/** @param {Need} need */
function reasons(need, { roles, own, overview, described }) {
  const { permission, project, environment } = need;
  const isOfProject = described !== undefined && described.type !== 'root';
  const name = described ? html`“${described.displayName}” <small><code>${permission}</code></small>` : html`<code>${permission}</code>`;
  const here = own.filter((role) => !role.project || role.project === project);
  return html`
    <p>It needs the permission ${name}${html`<bdi>${where(project, environment)}</bdi>`}, which you do not have.</p>
    <dl>
      <div><dt>Your roles</dt><dd>${here.length === 0 ? 'None' : html`<ul>${here.map((role) => html`<li>${text(role.name)}${role.project ? html` in ${text(role.project)}` : nothing}</li>`)}</ul>`}</dd></div>
      <div><dt>Roles that have it</dt><dd><ul>${roles.map((role) => html`
        <li><a href=${roleAddress(role)}>${text(role.name)}</a>${role.id === 1 ? ', everywhere' : isOfProject ? html` in ${project ? text(project) : 'a project'}` : nothing}</li>`)}
        ${isOfProject ? editor(permission, roles, overview) : nothing}</ul></dd></div>
      <div><dt>Ask</dt><dd>${isOfProject ? ask(overview) : 'An administrator'}</dd></div>
    </dl>`;
}

/** What the root role Editor may do in projects. */
function editor(permission, roles, overview) {
  if (!editorInOpen(permission, roles.some(({ id }) => id === 5))) return nothing;
  const link = html`<a href="#/roles/2">Editor</a>`;
  if (!overview) return html`<li>${link}, in open projects</li>`;
  return overview.mode === 'open' ? html`<li>${link}, because ${text(overview.name)} is open</li>`
    : html`<li class="detail">Not Editor: ${text(overview.name)} is ${overview.mode}, and only its own roles count.</li>`;
}

/** Who can give a role in a project. */
function ask(overview) {
  const owners = (overview?.owners ?? []).filter(({ ownerType }) => ownerType !== 'system');
  if (!overview) return 'An Owner of the project, or an administrator';
  if (owners.length === 0) return 'An administrator: the project has no Owner';
  return html`<ul>${owners.map(({ ownerType, name, email }) => html`<li>${email ? html`<a href="mailto:${email}">${text(name)}</a>` : text(name)}, ${
    ownerType === 'group' ? 'a group of Owners' : 'Owner'}</li>`)}</ul>`;
}
