// The page of one project. The address has the tab: `#/projects/PROJECT?tab=members`.

import { read } from '../api.js';
import { failure, focusOn, loading, logAddress } from '../dom.js';
import { star } from '../favorite.js';
import { isPlainClick } from '../tabs.js';
import { html, nothing, render as show } from '../template.js';
import { menu } from '../menu.js';
import { archivedBadge, comparisonAddress, modeBadge, projectAddress, projectPath } from '../project.js';
import { countToggles, listAddress } from '../toggle.js';
import { allowed } from '../why.js';
import { openProjectChange } from './project-dialogs.js';
import { projectEnvironments } from './project-environments.js';
import { projectMembers } from './project-members.js';
import { projectOverview } from './project-overview.js';
import { projectProtection } from './project-protection.js';
import { projectSettings } from './project-settings.js';
import { projectTokens } from './project-tokens.js';

const defaultProject = 'default'; // is neither archived nor deleted
/** The permissions that decide which parts the page has, and what can be changed there. */
const deciding = ['UPDATE_PROJECT', 'PROJECT_CHANGE_REQUEST_WRITE', 'PROJECT_USER_ACCESS_WRITE', 'READ_PROJECT_API_TOKEN', 'CREATE_PROJECT_API_TOKEN'];

export async function renderProject(content, context, id) {
  const { may, search, signal, announce, setTitle, setActions, setPath } = context;
  const state = {
    opened: null, // {content, etag}
    counts: null, // the numbers of its toggles by state
    tab: search.get('tab'), // null: the overview
    error: null,
  };
  setTitle(id);
  setPath(html`<a href="#/projects">Projects</a>`);
  show(loading('the project'), content);
  let held = ''; // those of `deciding` that the user has
  let tabs = tabsOf();
  let pending = Promise.resolve(); // the latest requests of a part
  content.addEventListener('click', stay);
  await load();

  /** The parts of the page, by the value of `tab`. Each has a function that loads it, and a template. */
  function tabsOf() {
    held = rights();
    const part = { ...context, id, state, draw, reload: load };
    const overview = projectOverview(part);
    const members = projectMembers(part);
    const settings = may('UPDATE_PROJECT', id) && projectSettings(part);
    const tokens = may('READ_PROJECT_API_TOKEN', id) && projectTokens(part);
    return {
      overview, members, environments: projectEnvironments(part), protection: projectProtection(part), ...tokens && { tokens }, ...settings && { settings },
    };
  }

  function rights() {
    return deciding.filter((permission) => may(permission, id)).join();
  }

  function current() {
    return tabs[state.tab ?? 'overview'] ?? tabs.overview;
  }

  async function load() {
    try {
      state.opened = await read(`${projectPath(id)}/overview`, { signal });
    } catch (error) {
      if (signal.aborted) return;
      setActions();
      show(error.status === 404 ? html`<p class="empty">There is no such project, or only its members see it. <a href="#/projects">Show the projects</a>.</p>`
        : failure(error, load), content);
      return;
    }
    if (held !== rights()) tabs = tabsOf(); // the user has changed their own roles
    drawHead();
    draw();
    countToggles(id, signal).then(({ total }) => {
      state.counts = total;
      draw();
    }, () => {
      state.counts = {}; // the page is complete without the numbers
      draw();
    });
    await loadTab();
  }

  async function loadTab() {
    state.error = null;
    pending = Promise.resolve(current().load?.());
    try {
      await pending;
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
    content.querySelector('.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' }); // on phones, they are wider than the window
  }

  function drawHead() {
    const { content: project } = state.opened;
    setTitle(project.name, project.name !== id && html`<code class="detail">${id}</code>`, star(project, projectPath(id), context, drawHead), modeBadge(project), archivedBadge(project));
    const changes = may('DELETE_PROJECT', id) && id !== defaultProject ? [
      project.archivedAt ? { label: 'Revive', action: () => change('revive') } : { label: 'Archive', action: () => change('archive') },
      { label: 'Delete', danger: true, action: () => change('delete') },
    ] : [];
    setActions(
      project.environments.length > 1 && html`<a class="button" href=${comparisonAddress(id)}>Compare environments</a>`,
      html`<a class="button" href=${listAddress({ project: id })}>Show toggles</a>`,
      allowed({ permission: 'PROJECT_USER_ACCESS_WRITE', project: id, to: `add members to ${project.name}` }, context, 'Add member',
        html`<button type="button" class="primary" @click=${() => tabs.members.add()}>Add member</button>`),
      changes.length > 0 && menu('', 'menu-project', changes, 'More'));
  }

  function change(name) {
    openProjectChange(name, state.opened.content, async (message) => {
      if (name === 'delete') {
        window.addEventListener('hashchange', () => announce(message), { once: true });
        window.location.hash = '#/projects';
        return;
      }
      announce(message);
      await context.reloadPermissions().catch(() => {});
      await load();
      if (document.activeElement === document.body) focusOn('.head button');
    }, () => pending.catch(() => {})); // the page says why
  }

  function draw() {
    if (signal.aborted || !state.opened) return;
    const { content: project } = state.opened;
    const tab = (name, label, number) => html`<li><a data-here href=${projectAddress(id, name === 'overview' ? undefined : name)}
      aria-current=${tabs[name] === current() ? 'true' : nothing}>${label} <span class="number">${number?.toLocaleString('en')}</span></a></li>`;
    show(html`
      <ul class="tabs" aria-label="Parts of the project">
        ${tab('overview', 'Overview')}
        ${tab('members', 'Members', project.members)}
        ${tab('environments', 'Environments', project.environments.length)}
        ${tab('protection', 'Approvals')}
        ${tabs.tokens ? tab('tokens', 'Client tokens') : nothing}
        ${tabs.settings ? tab('settings', 'Settings') : nothing}
        ${may('ADMIN') ? html`<li><a href=${logAddress({ project: id })}>Event log</a></li>` : nothing}
      </ul>
      ${state.error ? failure(state.error, loadTab) : current().template()}`, content);
  }

  /** Shows another tab without loading the page. */
  function stay(event) {
    const link = event.target.closest('a[data-here]');
    if (!link || !isPlainClick(event)) return;
    event.preventDefault();
    state.tab = new URLSearchParams(link.hash.split('?')[1]).get('tab');
    window.history.pushState(null, '', link.hash);
    draw();
    loadTab();
  }
}
