// Roles: the list, and the pages of one.

import { failure, loading } from '../dom.js';
import { listView } from '../list.js';
import { isCustom, isRoot, loadRoles, roleAddress } from '../role.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { allowed } from '../why.js';
import { openRoleDeletion } from './role-page.js';

const orders = {
  // The six roles of the service first, in their order: the one that may do most is first.
  kind: { label: 'Kind', compare: (a, b) => Number(isCustom(a)) - Number(isCustom(b)) || (isCustom(a) ? a.name.localeCompare(b.name, 'en') : a.id - b.id) },
  name: { label: 'Name', compare: (a, b) => a.name.localeCompare(b.name, 'en') },
};

/** Where a role counts, in words. */
export const kindOf = (role) => (isRoot(role) ? 'Whole service' : 'In projects');

export async function render(content, context) {
  if (context.detail) {
    const { renderRole } = await import('./role-page.js');
    return renderRole(content, context, context.detail);
  }
  const { may, search, signal, announce, setActions } = context;
  const state = { roles: null, error: null };
  const list = listView({
    content,
    search,
    address: '#/roles',
    item: 'role',
    placeholder: 'Search names and descriptions',
    texts: ({ name, description }) => [name, description],
    tabs: { name: 'kind', label: 'Kinds of roles', choices: () => [
      { value: '', label: 'All' },
      { value: 'root', label: 'Whole service', test: isRoot },
      { value: 'project', label: 'In projects', test: (role) => !isRoot(role) },
      { value: 'custom', label: 'Custom', test: isCustom },
    ] },
    orders,
    order: { sortBy: 'kind', sortOrder: 'asc' },
    draw,
  });
  setActions(allowed({ permission: 'ADMIN', to: 'create roles' }, context, 'Create role', html`<a class="button primary" href="#/roles/new">Create role</a>`));
  draw();
  await load();

  async function load() {
    state.error = null;
    draw();
    try {
      state.roles = await loadRoles(signal);
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { roles, error } = state;
    show(html`
      <p class="lead">A root role counts in the whole service; everyone has one. Roles in projects count in the projects where somebody has them.</p>
      ${error ? failure(error, load) : !roles ? loading('the roles') : list.template(roles, rows, nothing)}`, content);
  }

  function rows(roles, { query, ...sorting }) {
    return denseTable({
      caption: 'Roles',
      kind: 'roles',
      columns: [
        { name: 'Name', compare: true, cell: (role) => html`<div class="named"><a href=${roleAddress(role)}>${marked(role.name, query)}</a>${
          isCustom(role) ? html` <span class="badge">Custom</span>` : nothing}</div>
          ${role.description ? html`<small class="line" title=${role.description}>${marked(role.description, query)}</small>` : nothing}` },
        { name: 'Kind', compare: true, kind: 'one-line', cell: kindOf },
      ],
      items: roles,
      key: ({ id }) => id,
      actions: may('ADMIN') && ((role) => ({
        name: role.name,
        id: `role-${role.id}`,
        items: [
          ...isCustom(role) ? [{ label: 'Edit', href: roleAddress(role) }] : [],
          ...role.id > 1 ? [{ label: 'Copy to a new role', href: `#/roles/new?copy=${role.id}` }] : [],
          ...isCustom(role) ? [{ label: 'Delete', danger: true, action: () => openRoleDeletion(role, deleted) }] : [],
        ],
      })),
      ...sorting,
    });
  }

  async function deleted({ name }) {
    announce(`Role ${name} deleted.`);
    await load();
  }
}
