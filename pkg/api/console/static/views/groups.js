// Groups of people and service accounts: the list, and the pages of one.

import { failure, loading, once } from '../dom.js';
import { draftFor } from '../draft.js';
import { leaveFor } from '../editor.js';
import { listView } from '../list.js';
import { groupAddress, loadGroups } from '../person.js';
import { projectAddress } from '../project.js';
import { loadRoles, roleAddress } from '../role.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { allowed } from '../why.js';
import { openGroupDeletion, openGroupEditor } from './group-dialogs.js';

const shownProjects = 3;

const orders = {
  name: { label: 'Name', compare: (a, b) => a.name.localeCompare(b.name, 'en') },
  members: { label: 'Members', compare: (a, b) => a.userCount - b.userCount },
  role: { label: 'Root role', compare: (a, b) => (a.role?.name ?? '').localeCompare(b.role?.name ?? '', 'en') },
  projects: { label: 'Projects', compare: (a, b) => a.projects.length - b.projects.length },
};

export async function render(content, context) {
  if (context.detail) {
    const { renderGroup } = await import('./group-page.js');
    return renderGroup(content, context, context.detail);
  }
  const { may, search, signal, announce, setActions } = context;
  const state = { groups: null, roles: [], error: null };
  const list = listView({
    content,
    search,
    address: '#/groups',
    item: 'group',
    placeholder: 'Search names, descriptions and projects',
    texts: ({ name, description, projects }) => [name, description, ...projects],
    orders,
    order: { sortBy: 'name', sortOrder: 'asc' },
    draw,
  });
  setActions(allowed({ permission: 'ADMIN', to: 'create groups' }, context, 'Create group',
    html`<button type="button" class="primary" @click=${once(create)}>Create group</button>`));
  draw();
  const loaded = load();
  await loaded;
  if (state.groups && may('ADMIN') && draftFor('group') === null) create();

  async function load() {
    state.error = null;
    draw();
    try {
      const [groups, roles] = await Promise.all([loadGroups(signal), loadRoles(signal)]);
      Object.assign(state, { roles, groups: groups.map((group) => ({ ...group, role: roles.find(({ id }) => id === group.rootRole) ?? null })) });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { groups, error } = state;
    show(html`
      <p class="lead">A group has roles, and all of its members have them. A group can get its members from the issuer with which people sign in.</p>
      ${error ? failure(error, load) : !groups ? loading('the groups') : list.template(groups, rows, html`<p class="empty">There are no groups. ${
  may('ADMIN') ? 'Create one for each team, and give it roles in projects.' : 'An Admin can create one.'}</p>`)}`, content);
  }

  function rows(groups, { query, ...sorting }) {
    const cells = {
      name: ({ id, name, description }) => html`<div class="named"><a href=${groupAddress({ id })}>${marked(name, query)}</a></div>${
        description ? html`<small class="line" title=${description}>${marked(description, query)}</small>` : nothing}`,
      members: ({ userCount, mappingsSSO }) => html`${userCount.toLocaleString('en')}${mappingsSSO.length > 0 ? html` <small class="detail">and by the issuer</small>` : nothing}`,
      role: ({ role }) => (role ? html`<a href=${roleAddress(role)}><bdi>${role.name}</bdi></a>` : html`<span class="detail">None</span>`),
      projects: ({ projects }) => (projects.length === 0 ? html`<span class="detail">None</span>`
        : html`<span>${projects.slice(0, shownProjects).map((project, i) => html`${i > 0 ? ', ' : nothing}<a href=${projectAddress(project, 'members')}>${marked(project, query)}</a>`)}${
          projects.length > shownProjects ? html` and ${(projects.length - shownProjects).toLocaleString('en')} more` : nothing}</span>`),
    };
    return denseTable({
      caption: 'Groups',
      kind: 'groups',
      columns: Object.entries(orders).map(([by, { label, compare }]) => ({ name: label, kind: ['role', 'projects'].includes(by) ? 'one-line short' : undefined, compare, cell: cells[by] })),
      items: groups,
      key: ({ id }) => id,
      actions: may('ADMIN') && ((group) => ({
        name: group.name,
        id: `group-${group.id}`,
        items: [
          { label: 'Edit', action: () => openGroupEditor(group, state.roles, context, saved) },
          { label: 'Delete', danger: true, action: () => openGroupDeletion(group, deleted) },
        ],
      })),
      ...sorting,
    });
  }

  async function create() {
    await loaded; // the roles
    openGroupEditor(null, state.roles, context, ({ id, name }) => {
      leaveFor(groupAddress({ id }), () => announce(`Group ${name} created. Add its members next.`));
    });
  }

  async function saved({ name }) {
    announce(`Group ${name} saved.`);
    await load();
  }

  async function deleted({ name }) {
    announce(`Group ${name} deleted.`);
    await load();
  }
}
