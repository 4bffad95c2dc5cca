// The page of a person: groups, roles, tokens, and what the person may do: `#/people/ID`.

import { loadTokensOf } from '../all-tokens.js';
import { failure, loading, logAddress } from '../dom.js';
import { draftFor } from '../draft.js';
import { leaveFor } from '../editor.js';
import { groupAddress, loadGrants, loadPeople } from '../person.js';
import { projectAddress } from '../project.js';
import { loadRoles, roleAddress } from '../role.js';
import { html, nothing, render as show } from '../template.js';
import { accountRights } from './account-rights.js';
import { openDeletion, openDisabling, openPersonEditor } from './person-dialogs.js';
import { moment, tokenUse } from './token-table.js';

export async function renderPerson(content, context, id) {
  const { user, signal, announce, setTitle, setActions, setPath } = context;
  const state = { person: undefined, roles: [], projects: undefined, error: null };
  const rights = accountRights({ path: 'user-admin', id, address: `#/people/${id}` }, context, draw);
  setTitle('Person');
  setPath(html`<a href="#/people">People</a>`);
  draw();
  await load();
  if (state.person && draftFor('person') === state.person.id) edit();

  async function load() {
    state.error = null;
    try {
      const { people: [person = null], roles } = await loadPeople(signal, id);
      Object.assign(state, { roles, person });
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 400) state.person = null; // the address has no id
      else state.error = error;
    }
    drawHead();
    draw();
    if (!state.person) return;
    await Promise.all([loadTokens(), loadProjectRoles(), rights.load(state.person.rootRole)]);
  }

  /** Loads the tokens. The page is complete without them. */
  async function loadTokens() {
    const { person } = state;
    try {
      person.tokens = await loadTokensOf(person.id, signal);
    } catch {
      person.tokens = null;
    }
    draw();
  }

  /** Loads the roles in projects. The page is complete without them. */
  async function loadProjectRoles() {
    const { person } = state;
    try {
      const [all, roles] = await Promise.all([
        loadGrants({ users: [person.id], groups: person.groups.map((group) => group.id) }, signal), loadRoles(signal),
      ]);
      state.projects = all.map(({ project, users, groups }) => ({
        project,
        own: users.flatMap((member) => named(member, roles)),
        byGroup: groups.map((group) => ({ group, roles: named(group, roles) })),
      }));
    } catch {
      state.projects = null;
    }
    draw();
  }

  function drawHead() {
    const { person } = state;
    if (!person) return;
    setTitle(person.name, person.disabled && html`<span class="badge quiet">Disabled</span>`, person.id === user?.id && html`<span class="badge">You</span>`);
    setActions(
      html`<button type="button" class="danger quiet" @click=${remove}>Delete</button>`,
      html`<button type="button" @click=${() => openDisabling(person, announce, load)}>${person.disabled ? 'Enable' : 'Disable'}</button>`,
      html`<button type="button" class="primary" @click=${edit}>Edit</button>`);
  }

  function draw() {
    const { person, error } = state;
    show(error ? html`${failure(error, load)}` : person === undefined ? html`${loading('the person')}`
      : person === null ? html`<p class="empty">There is no such person. The person may have been deleted. <a href="#/people">Show the people</a>.</p>` : html`
      <dl class="panel">
        ${fact('E-mail', person.email ? html`<bdi>${person.email}</bdi>` : 'None')}
        ${person.username ? fact('User name', html`<bdi>${person.username}</bdi>`) : nothing}
        ${fact('Root role', html`<a href=${roleAddress(person.role)}><bdi>${person.role.name}</bdi></a>`)}
        ${fact('Added', person.createdAt ? moment(person.createdAt) : 'Unknown')}
        ${fact('Tokens', tokenUse(person))}
        ${fact('Event log', html`<div class="links"><a href=${logAddress({ createdBy: person.id })}>Activity</a><a
          href=${logAddress({ subject: `user:${person.id}` })}>History</a></div>`)}
      </dl>
      <section aria-label="Groups and projects"><h2>Groups and projects</h2>
        ${person.groups.length === 0 ? html`<p class="detail">In no group.</p>` : html`<p>In ${person.groups.map((group, i) => html`${i > 0 ? ', ' : nothing}<a
          href=${groupAddress(group)}><bdi>${group.name}</bdi></a>`)}.</p>`}
        ${projectRoles()}
        <p class="detail">Groups by the issuer are those of the last ID token. Personal access tokens keep them for a time that the operator sets.</p>
      </section>
      ${rights.template(person.name)}`, content);
  }

  function projectRoles() {
    const { projects } = state;
    if (!projects) return html`<p class="detail">${projects === null ? 'The roles in projects could not be loaded.' : '…'}</p>`;
    if (projects.length === 0) return html`<p class="detail">No role in a project.</p>`;
    const roleNames = (roles) => roles.map((role, i) => html`${i > 0 ? ', ' : nothing}<a href=${roleAddress(role)}><bdi>${role.name}</bdi></a>`);
    return html`<ul class="sentences">${projects.map(({ project, own, byGroup }) => html`<li><a href=${projectAddress(project.id, 'members')}><bdi>${project.name}</bdi></a>:
      ${roleNames(own)}${byGroup.map(({ group, roles }, i) => html`${own.length > 0 || i > 0 ? ', ' : nothing}${roleNames(roles)} <span class="detail">by <bdi>${group.name}</bdi></span>`)}</li>`)}</ul>`;
  }

  function edit() {
    openPersonEditor(state.person, state.roles, context, async ({ name }) => {
      announce(`${name} saved.`);
      await load();
    });
  }

  function remove() {
    openDeletion(state.person, ({ name }) => leaveFor('#/people', () => announce(`${name} was deleted.`)), rights.answered);
  }
}

const fact = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;

/** The roles of a member of a project that exist. */
const named = ({ roles: ids }, roles) => ids.map((id) => roles.find((role) => role.id === id)).filter(Boolean);
