// The page of a role, which shows what it permits and who has it, and edits a custom one: `#/roles/ID`, or `#/roles/new`.

import { call, read } from '../api.js';
import { form, openDialog } from '../dialog.js';
import { loading, logAddress, text } from '../dom.js';
import { editResource, leaveFor } from '../editor.js';
import { loadEnvironments } from '../environment.js';
import { editorInOpen, grants } from '../rights.js';
import { isCustom, isRoot, loadPermissions, loadRole, rolePath, rolesPath } from '../role.js';
import { keyOf, partsOf, roleMatrix, rowsOf } from '../role-matrix.js';
import { html, live, nothing, render as show } from '../template.js';
import { locked } from '../why.js';
import { roleHolders } from './role-holders.js';

const labels = { name: 'Name', description: 'Description', permissions: 'Permissions' };
const kinds = { custom: 'In projects', 'root-custom': 'In the whole service' };

export async function renderRole(content, context, id) {
  const { may, search, signal, announce, setTitle, setActions, setPath } = context;
  const isNew = id === 'new';
  setTitle(isNew ? 'Create a role' : 'Role');
  setPath(html`<a href="#/roles">Roles</a>`);
  show(loading('the role'), content);
  const ofId = (of) => read(rolePath(of), { signal }).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  const [catalog, environments, opened, copied, member] = await Promise.all([
    loadPermissions(signal),
    loadEnvironments(signal),
    isNew ? undefined : ofId(id),
    isNew && search.has('copy') ? ofId(search.get('copy')) : null,
    loadRole(5, signal),
  ]);
  if (opened === null) {
    show(html`<p class="empty">There is no such role. It may have been deleted. <a href="#/roles">Show the roles</a>.</p>`, content);
    return;
  }
  const role = opened?.content;
  /** What is known of permissions, by name. */
  const known = new Map([...catalog.root, ...catalog.project, ...catalog.environments.flatMap(({ permissions }) => permissions),
    ...role?.permissions ?? [], ...copied?.content.permissions ?? []].map((one) => [one.name, one]));
  const begun = new Set((role?.permissions ?? []).map(({ name, environment }) => keyOf(name, environment)));
  if (role) setTitle(role.name, isCustom(role) && html`<span class="badge">Custom</span>`);
  const editable = may('ADMIN') && (isNew || isCustom(role));
  const holders = isNew ? null : roleHolders(role, context, draw);
  const edit = editResource({
    path: isNew ? rolesPath : rolePath(id),
    opened,
    initial: copied ? copyOf(copied.content) : { name: '', description: '', type: search.get('type') === 'root' ? 'root-custom' : 'custom', permissions: [] },
    draft: { kind: 'role', title: isNew ? 'a new role' : `the role ${role.name}` },
    labels,
    toDraft,
    toBody,
    controlOf: (place) => (place.split('/')[0] in labels ? place.split('/')[0] : undefined),
    draw,
    saved,
    signal,
  });
  setActions(role && may('ADMIN') && html`<a href=${logAddress({ subject: `role:${role.id}` })}>History</a>`,
    role && may('ADMIN') && role.id > 1 && html`<a class="button" href="#/roles/new?copy=${role.id}">Copy to a new role</a>`,
    editable && !isNew && html`<button type="button" class="danger quiet" @click=${() => openRoleDeletion(role, deleted)}>Delete</button>`);
  draw();
  await holders?.load();

  /** A role that can be created with the permissions of another one, in each environment. */
  function copyOf({ name, description, type, permissions }) {
    return {
      name: `Copy of ${name}`, description, type: isRoot({ type }) ? 'root-custom' : 'custom',
      permissions: permissions.flatMap((one) => (one.type === 'environment' && !one.environment
        ? environments.map((environment) => ({ ...one, environment: environment.name })) : [one])),
    };
  }

  /** Reports whether a role of a type can have a permission. One that has others without effect keeps them. */
  function isPossible(key, type) {
    return begun.has(key) || (known.get(partsOf(key).name).type === 'root') === isRoot({ type });
  }

  function toBody({ name, description, type, permissions }) {
    return { name: name.trim(), description, type, permissions: permissions.filter((key) => isPossible(key, type)).map(partsOf) };
  }

  function draw() {
    const { values } = edit.state;
    const input = (name) => edit.input({ name, label: labels[name], value: values[name] ?? '', change: (value) => edit.set({ [name]: value }) });
    if (!editable) {
      show(html`
        ${role.description ? html`<p class="lead">${role.description}</p>` : nothing}
        ${permitted()}
        ${isCustom(role) ? html`<div class="buttons">${locked({ permission: 'ADMIN', to: `edit the role ${role.name}` }, context, 'Edit')}</div>` : nothing}
        ${holders.template()}`, content);
      return;
    }
    show(html`<form class="role-form" novalidate aria-label="Role" @submit=${edit.submit}>
        ${edit.conflict()}
        ${isNew ? html`<fieldset class="choices"><legend>Where it counts</legend>${Object.entries(kinds).map(([type, label]) => html`
          <label><input type="radio" name="type" value=${type} .checked=${live(values.type === type)} @change=${() => edit.set({ type })}> ${label}</label>`)}</fieldset>` : nothing}
        ${input('name')}
        ${input('description')}
        ${permitted(values)}
        ${edit.error('permissions')}
        ${edit.problem()}
        ${isNew ? nothing : html`<p class="detail">A change takes effect with the next request of everyone who has the role.</p>`}
        <div class="buttons">${edit.saveButton(isNew ? 'Create role' : 'Save')} <a class="button" href="#/roles" @click=${edit.cancel}>Cancel</a></div>
      </form>
      ${holders?.template() ?? nothing}`, content);
  }

  /** Reports whether the root role Editor has a permission in open projects. */
  function isEditors(key) {
    const { name } = partsOf(key);
    return editorInOpen(name, grants(member, name));
  }

  /** @param {{type: string, permissions: string[]}} [values] what is edited */
  function permitted(values) {
    const type = values?.type ?? role.type;
    const ofService = isRoot({ type });
    const keys = new Set(values?.permissions ?? begun);
    const has = (key) => keys.has(key) || (!values && keys.has(partsOf(key).name)); // fixed roles name no environments
    const change = values && ((changed, on) => edit.set({
      permissions: [...new Set([...values.permissions, ...on ? changed : []])].filter((key) => on || !changed.includes(key)).sort(),
    }));
    const rows = rowsOf(catalog, ofService);
    const counting = new Set(rows.map(({ name }) => name));
    const idle = [...new Set([...begun, ...keys])].filter((key) => !counting.has(partsOf(key).name) && isPossible(key, type));
    if (type === 'root' && keys.has('ADMIN')) return html`<p>It includes all permissions, in all projects and environments.</p>`;
    return html`
      <h2>What it permits</h2>
      ${type === 'root' && keys.size === 0 ? html`<p class="detail">Only reading, outside of private projects.</p>`
    : type === 'project' && keys.size === 0 ? html`<p class="detail">Only reading, also if the project is private.</p>`
      : roleMatrix({ caption: 'Permissions', rows, environments: ofService ? [] : environments, place: ofService ? 'Whole service' : 'Project', has, change })}
      ${role?.id === 2 ? html`<h2>In open projects</h2>
        <p class="detail">What Member permits, and moving toggles. In protected and private projects, Editors need a role there.</p>
        ${roleMatrix({ caption: 'Permissions in open projects', rows: rowsOf(catalog, false), environments, has: isEditors })}` : nothing}
      ${idle.length > 0 ? html`<h2>Without effect</h2>
        <p class="detail">Permissions that decide nothing here, ${ofService ? 'or that count only in projects, ' : nothing}which a role of another service or of Terraform can contain.</p>
        <ul class="idle">${idle.map((key) => html`<li>${change ? html`<label class="check"><input type="checkbox" .checked=${live(keys.has(key))}
          @change=${({ target }) => change([key], target.checked)}> ${idleName(key)}</label>` : idleName(key)}</li>`)}</ul>` : nothing}`;
  }

  function idleName(key) {
    const { name, environment } = partsOf(key);
    return html`<span>${known.get(name)?.displayName ?? name} <small><code>${name}</code></small>${environment ? html` in <bdi>${environment}</bdi>` : nothing}</span>`;
  }

  function saved({ name }) {
    context.reloadPermissions().catch(() => {}); // they may be those of the user
    leaveFor('#/roles', () => announce(`Role ${name} ${isNew ? 'created' : 'saved'}.`));
  }

  function deleted({ name }) {
    edit.cancel();
    leaveFor('#/roles', () => announce(`Role ${name} deleted.`));
  }
}

/** What the page edits of a role: the keys of its permissions, in their order. */
const toDraft = ({ name, description, type, permissions }) => ({
  name, description: description ?? '', type,
  permissions: permissions.map((one) => (typeof one === 'string' ? one : keyOf(one.name, one.environment))).sort(),
});

/**
 * Deletes a custom role after a question. The API refuses it while somebody has the role, and says who.
 * @param {{id: number, name: string}} role
 * @param {(role: Object) => void} deleted called after it
 */
export function openRoleDeletion(role, deleted) {
  const dialog = openDialog(['Delete the role ', text(role.name), '?'], () => [
    html`<p>It can only be deleted if nobody has it. This cannot be undone.</p>`,
    form({
      submit: 'Delete role', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
      async send() {
        await call('DELETE', rolePath(role.id)).catch((error) => {
          if (error.status !== 404) throw error; // it is gone already
        });
        dialog.close();
        await deleted(role);
      },
    }),
  ]);
}
