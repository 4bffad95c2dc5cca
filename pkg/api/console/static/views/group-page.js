// The page of a group: its members, and its roles: `#/groups/ID`.

import { call, read } from '../api.js';
import { combobox } from '../combobox.js';
import { counted, failure, focusOn, loading, logAddress } from '../dom.js';
import { draftFor } from '../draft.js';
import { leaveFor } from '../editor.js';
import { accountName, accountPage, findAccounts, groupPath, loadGrants } from '../person.js';
import { projectAddress } from '../project.js';
import { loadRoles, roleAddress } from '../role.js';
import { marked, matcher } from '../search.js';
import { denseTable } from '../table.js';
import { element, html, live, nothing, render as show } from '../template.js';
import { allowed } from '../why.js';
import { openGroupDeletion, openGroupEditor } from './group-dialogs.js';

const fewest = 2; // characters of a search for accounts
const pause = 150; // between two keys, in milliseconds
const shownMembers = 100;
const mostAttempts = 5; // to change the members while others do

export async function renderGroup(content, context, id) {
  const { may, user, signal, announce, setTitle, setActions, setPath } = context;
  const isAdmin = may('ADMIN');
  const state = { group: undefined, roles: [], projects: undefined, query: '', busy: false, error: null };
  const input = element(html`<input aria-label="Add a member" placeholder="Add a person or a service account">`);
  const found = new Map(); // what the input has proposed, by its id
  const box = combobox(input, { choices: proposals, choose: (value) => value && add(found.get(value)) });
  setTitle('Group');
  setPath(html`<a href="#/groups">Groups</a>`);
  draw();
  await load();
  if (state.group && isAdmin && draftFor('group') === state.group.id) edit();

  async function load() {
    state.error = null;
    try {
      const [group, roles] = await Promise.all([call('GET', groupPath(id), undefined, { signal }).catch((error) => {
        if (error.status !== 404) throw error;
        return null;
      }), loadRoles(signal)]);
      Object.assign(state, { group, roles });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    drawHead();
    draw();
    if (state.group) await loadProjectRoles();
  }

  /** Loads the roles in projects. The page is complete without them. */
  async function loadProjectRoles() {
    try {
      const all = state.group.projects.length === 0 ? [] : await loadGrants({ groups: [state.group.id] }, signal);
      state.projects = all.map(({ project, groups: [group] }) => ({ project, roles: state.roles.filter((role) => group.roles.includes(role.id)) }));
    } catch {
      state.projects = null;
    }
    draw();
  }

  function drawHead() {
    const { group } = state;
    if (!group) return;
    setTitle(group.name);
    setActions(
      isAdmin && html`<a href=${logAddress({ subject: `group:${group.id}` })}>History</a>`,
      allowed({ permission: 'ADMIN', to: `delete the group ${group.name}` }, context, 'Delete', html`<button type="button" class="danger quiet" @click=${remove}>Delete</button>`),
      allowed({ permission: 'ADMIN', to: `edit the group ${group.name}` }, context, 'Edit', html`<button type="button" @click=${edit}>Edit</button>`));
  }

  function draw() {
    const { group, roles, error } = state;
    if (error || !group) {
      show(error ? html`${failure(error, load)}` : group === undefined ? html`${loading('the group')}`
        : html`<p class="empty">There is no such group. It may have been deleted. <a href="#/groups">Show the groups</a>.</p>`, content);
      return;
    }
    const rootRole = roles.find((role) => role.id === group.rootRole);
    show(html`
      ${group.description ? html`<p class="description">${group.description}</p>` : nothing}
      <dl class="panel">
        ${fact('Root role', rootRole ? html`<a href=${roleAddress(rootRole)}><bdi>${rootRole.name}</bdi></a>` : 'None')}
        ${fact('Roles in projects', projectRoles())}
        ${fact('Members by the issuer', group.mappingsSSO.length === 0 ? 'None' : html`<ul class="values">${group.mappingsSSO.map((value) => html`<li><bdi>${value}</bdi></li>`)}</ul>`)}
      </dl>
      ${members()}`, content);
  }

  function projectRoles() {
    const { projects } = state;
    if (!projects) return projects === null ? 'Unknown' : '…';
    return projects.length === 0 ? 'None' : html`<ul class="sentences">${projects.map(({ project, roles }) => html`<li><a href=${projectAddress(project.id, 'members')}><bdi>${
      project.name}</bdi></a>: ${roles.map((role, i) => html`${i > 0 ? ', ' : nothing}<a href=${roleAddress(role)}><bdi>${role.name}</bdi></a>`)}</li>`)}</ul>`;
  }

  function members() {
    const { group, query } = state;
    const all = group.users.map((one) => one.user).sort((a, b) => accountName(a).localeCompare(accountName(b), 'en'));
    const matches = matcher(query);
    const matching = all.filter(({ name, username, email }) => matches(name, username, email));
    return html`<section aria-label="Members"><h2>Members</h2>
      ${group.mappingsSSO.length > 0 ? html`<p class="detail">And those whose ID token has one of the values of the issuer. They are not listed here.</p>` : nothing}
      <div class="finder">
        ${isAdmin ? html`<div class="add">${box.element}</div>` : nothing}
        ${all.length > 0 ? html`<input type="search" aria-label="Search" placeholder="Search members" autocomplete="off" dir="auto" .value=${live(query)}
          @input=${({ target }) => { state.query = target.value; draw(); }}>
        <p class="detail count" role="status" tabindex="-1">${counted(matching.length, 'member')}</p>` : nothing}</div>
      <div class="results" aria-busy=${state.busy ? 'true' : nothing}>${all.length === 0 ? html`<p class="empty">Nobody was added to the group.</p>`
    : matching.length === 0 ? html`<p class="empty">No member matches the search.</p>` : denseTable({
      caption: 'Members',
      kind: 'group-members',
      columns: [
        { name: 'Name', cell: (account) => html`<div class="named">${isAdmin ? html`<a href=${accountPage(account)}>${marked(accountName(account), query)}</a>`
          : html`<span>${marked(accountName(account), query)}</span>`}</div>${
          account.email ?? account.username ? html`<small class="line">${marked(account.email ?? account.username, query)}</small>` : nothing}` },
        { name: 'Kind', kind: 'one-line', cell: ({ accountType }) => (accountType === 'User' ? 'Person' : 'Service account') },
        { name: 'Own root role', kind: 'one-line', cell: ({ rootRole }) => html`<bdi>${state.roles.find((role) => role.id === rootRole)?.name ?? `Role ${rootRole}`}</bdi>` },
      ],
      items: matching.slice(0, shownMembers),
      key: (account) => account.id,
      actions: isAdmin && ((account) => ({
        name: accountName(account), id: `member-${account.id}`, items: [{ label: 'Remove', danger: true, action: () => removeMember(account) }],
      })),
    })}
      ${matching.length > shownMembers ? html`<p class="detail">The first ${shownMembers} are shown. Search to find others.</p>` : nothing}</div></section>`;
  }

  /** The accounts that a text finds, without those that are members. The search needs a user. */
  async function proposals(entered) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
    if (entered !== input.value.trim() || entered.length < fewest) return [];
    const accounts = user ? await findAccounts(entered, signal).catch(() => [])
      : (await call('GET', '/api/admin/user-admin', undefined, { signal }).catch(() => ({ users: [] }))).users
        .filter(({ name, email, username }) => matcher(entered)(name, email, username));
    const has = new Set(state.group.users.map((one) => one.user.id));
    return accounts.filter((account) => !has.has(account.id)).map((account) => {
      found.set(String(account.id), account);
      return { value: String(account.id), label: accountName(account), detail: account.email ?? account.username };
    });
  }

  async function add(account) {
    box.set('');
    await change((ids) => [...ids, account.id], `${accountName(account)} was added.`, `${accountName(account)} was not added.`,
      () => change((ids) => ids.filter((one) => one !== account.id)));
    input.focus();
  }

  async function removeMember(account) {
    await change((ids) => ids.filter((one) => one !== account.id), `${accountName(account)} was removed.`, `${accountName(account)} was not removed.`,
      () => change((ids) => [...ids, account.id]));
    if (document.activeElement === document.body) focusOn('.count', content);
  }

  /**
   * Changes the members as they are now, whatever someone else has changed since the page was loaded.
   * @param {(ids: number[]) => number[]} replace
   * @param {string} [done] said afterwards
   * @param {string} [failed] said if it fails; without it, the error is thrown
   * @param {() => Promise<unknown>} [undo]
   */
  async function change(replace, done, failed, undo) {
    state.busy = true;
    draw();
    try {
      await update(replace);
      await context.reloadPermissions().catch(() => {}); // they may be those of the user
      if (done) {
        announce(done, async () => {
          await undo();
          return 'The members are as they were.';
        });
      }
    } catch (error) {
      if (!failed) throw error;
      if (!signal.aborted) announce(`${failed} ${error.message}`);
    } finally {
      state.busy = false;
      if (!signal.aborted) await load();
    }
  }

  async function update(replace) {
    for (let left = mostAttempts; ; left -= 1) {
      const { content: { name, users }, etag } = await read(groupPath(id));
      const ids = [...new Set(replace(users.map((one) => one.user.id)))];
      try {
        return await call('PUT', groupPath(id), { name, users: ids.map((one) => ({ user: { id: one } })) }, etag ? { etag } : undefined);
      } catch (error) {
        if (error.status !== 412 || left === 0) throw error; // someone has changed the group meanwhile
      }
    }
  }

  function edit() {
    openGroupEditor(state.group, state.roles, context, async ({ name }) => {
      announce(`Group ${name} saved.`);
      await load();
    });
  }

  function remove() {
    openGroupDeletion(state.group, ({ name }) => leaveFor('#/groups', () => announce(`Group ${name} deleted.`)));
  }
}

const fact = (name, value) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
