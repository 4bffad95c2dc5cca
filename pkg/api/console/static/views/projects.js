// Projects: the list, and the pages of one.

import { call } from '../api.js';
import { failure, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { star } from '../favorite.js';
import { listView } from '../list.js';
import { archivedBadge, loadProjects, modeBadge, modes, ownerNames, projectAddress, projectPath } from '../project.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { listAddress } from '../toggle.js';
import { allowed } from '../why.js';
import { listed } from '../words.js';
import { openProjectCreation } from './project-dialogs.js';

const text = (a, b) => a.localeCompare(b, 'en');

/** What the list can be sorted by. */
const orders = {
  name: { label: 'Name', compare: (a, b) => text(a.name, b.name) || text(a.id, b.id) },
  toggles: { label: 'Toggles', compare: (a, b) => a.featureCount - b.featureCount },
  overdue: { label: 'Overdue', compare: (a, b) => a.potentiallyStaleFeatureCount - b.potentiallyStaleFeatureCount },
  stale: { label: 'To be removed', compare: (a, b) => a.staleFeatureCount - b.staleFeatureCount },
  members: { label: 'Members', compare: (a, b) => a.memberCount - b.memberCount },
};

export async function render(content, context) {
  if (context.detail) {
    const [id, part] = context.detail.split('/');
    if (part === 'compare') {
      const { renderComparison } = await import('./project-compare.js');
      return renderComparison(content, context, id);
    }
    const { renderProject } = await import('./project-page.js');
    return renderProject(content, context, context.detail);
  }
  const { user, may, search, signal, setActions } = context;
  const state = { projects: null, own: new Set(), error: null };
  const mayCreate = may('CREATE_PROJECT');
  setActions(allowed({ permission: 'CREATE_PROJECT', to: 'create projects' }, context, 'Create project',
    html`<button type="button" class="primary" @click=${() => openProjectCreation(context)}>Create project</button>`));
  const list = listView({
    content,
    search,
    address: '#/projects',
    item: 'project',
    placeholder: 'Search names, descriptions and owners',
    texts: ({ id, name, description, owners }) => [id, name, description, ...ownerNames(owners)],
    tabs: { name: 'list', label: 'Lists of projects', choices: () => [
      { value: '', label: 'Active', test: ({ archivedAt }) => archivedAt === null },
      ...user ? [{ value: 'favorites', label: 'Favorites', test: ({ favorite, archivedAt }) => favorite && archivedAt === null }] : [],
      ...user ? [{ value: 'own', label: 'Yours', test: ({ id, archivedAt }) => archivedAt === null && state.own.has(id) }] : [],
      { value: 'archived', label: 'Archived', test: ({ archivedAt }) => archivedAt !== null },
    ] },
    filters: {
      mode: { label: 'Mode', choices: () => [{ value: '', label: 'All modes' },
        ...Object.entries(modes).map(([value, { name }]) => ({ value, label: name, test: ({ mode }) => mode === value }))] },
    },
    orders,
    order: { sortBy: 'name', sortOrder: 'asc' },
    draw,
  });
  draw();
  await load();
  if (mayCreate && draftFor('project') !== undefined) openProjectCreation(context);

  async function load() {
    state.error = null;
    draw();
    try {
      const [projects, own] = await Promise.all([
        loadProjects(signal, true),
        user ? call('GET', '/api/admin/user/roles', undefined, { signal }).then(({ roles }) => roles) : [],
      ]);
      Object.assign(state, { projects, own: new Set(own.map(({ project }) => project)) });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { projects, error } = state;
    show(html`
      <p class="lead">A project has a team's toggles. Its mode and members decide who sees and changes them.</p>
      ${error ? failure(error, load) : !projects ? loading('the projects')
    : list.template(projects, table, html`<p class="empty">There are no projects that you can see.</p>`)}`, content);
  }

  function table(projects, sorting) {
    return denseTable({
      caption: 'Projects',
      kind: 'projects',
      columns: [
        { name: 'Name', compare: true, cell: (project) => html`
          <div class="named">${star(project, projectPath(project.id), context, draw)}<a href=${projectAddress(project.id)} title=${project.name}>${marked(project.name, sorting.query)}</a>${
            project.mode === 'open' ? nothing : modeBadge(project)}${archivedBadge(project)}</div>
          <small class="line" title=${project.description ?? project.id}>${marked(project.id, sorting.query)}${
            project.description ? html` · ${marked(project.description, sorting.query)}` : nothing}</small>` },
        { name: 'Toggles', kind: 'number', compare: true, cell: ({ id, name, featureCount }) => toggles(featureCount, { project: id }, name, 'toggle of', 'toggles of') },
        { name: 'Overdue', kind: 'number overdue', compare: true, cell: ({ id, name, potentiallyStaleFeatureCount: count }) => toggles(
          count, { project: id, stage: 'overdue' }, name, 'overdue toggle of', 'overdue toggles of') },
        { name: 'To be removed', kind: 'number', compare: true, cell: ({ id, name, staleFeatureCount: count }) => toggles(
          count, { project: id, stage: 'to-remove' }, name, 'toggle to be removed of', 'toggles to be removed of') },
        { name: 'Members', kind: 'number', compare: true, cell: ({ id, name, memberCount: count }) => html`<a href=${projectAddress(id, 'members')}>${
          count.toLocaleString('en')}<span class="visually-hidden"> ${count === 1 ? 'member' : 'members'} of <bdi>${name}</bdi></span></a>` },
        { name: 'Owners', kind: 'one-line owners', cell: ({ owners }) => {
          const names = ownerNames(owners);
          return names.length === 0 ? html`<span class="detail">None</span>` : html`<bdi title=${names.join(', ')}>${listed(names, 'and')}</bdi>`;
        } },
      ],
      items: projects,
      key: ({ id }) => id,
      ...sorting,
    });
  }
}

const toggles = (count, filters, name, one, many) => (count === 0 ? '0'
  : html`<a href=${listAddress(filters)}>${count.toLocaleString('en')}<span class="visually-hidden"> ${count === 1 ? one : many} <bdi>${name}</bdi></span></a>`);
