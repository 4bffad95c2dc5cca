// The members of a project: people, service accounts and groups with their roles, and the dialogs that change them.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { counted, focusOn, loading, text } from '../dom.js';
import { findAccounts, groupAddress, personAddress } from '../person.js';
import { projectPath } from '../project.js';
import { permissionWords } from '../project-roles.js';
import { marked, matcher } from '../search.js';
import { denseTable } from '../table.js';
import { element, html, live, nothing, render, repeat } from '../template.js';
import { listed } from '../words.js';
import { accountAddress } from './token-table.js';

/** The kinds of members: the name of one, and what several are called. */
const kinds = { group: ['Group', 'groups'], user: ['Person', 'people'], account: ['Service account', 'service accounts'] };
const fewest = 2; // characters of a search for people
const pause = 150; // between two keys, in milliseconds
const shown = 100; // members; the search finds others

/** @param {Object} part the context of the page, and its `id`, `state`, `draw` and `reload` */
export function projectMembers({ id, state, draw, reload, may, user, signal, announce, reloadPermissions }) {
  const path = projectPath(id);
  let access = null; // {users, groups, roles}
  let query = '';
  const mayChange = may('PROJECT_USER_ACCESS_WRITE', id);
  return { load, template, add };

  async function load() {
    access = await call('GET', `${path}/access`, undefined, { signal });
  }

  function template() {
    if (!access) return loading('the members');
    const all = membersOf(access);
    const matches = matcher(query);
    const found = all.filter((member) => matches(member.name, member.detail, ...roleNames(member)));
    return html`
      <p class="lead">${state.opened.content.mode === 'open' ? 'Editors change the toggles of this project, too. ' : nothing}Admins may do everything in every project.</p>
      ${all.length === 0 ? html`<p class="empty">Nobody has a role in this project.</p>` : html`
      <div class="finder" role="search"><input type="search" aria-label="Search" placeholder="Search names and roles" autocomplete="off" dir="auto"
        .value=${live(query)} @input=${({ target }) => { query = target.value; draw(); }}>
        <p class="detail count" role="status" tabindex="-1">${found.length === 0 ? 'No members' : numbers(found)}</p></div>
      <section class="results" aria-label="Members that match">${found.length === 0 ? html`<p class="empty">No member matches the search.</p>` : denseTable({
        caption: 'Members',
        columns: [
          { name: 'Name', cell: ({ name, detail, ...member }) => html`<div class="named">${link(member, marked(name, query))}</div>${
            detail ? html`<small class="line" title=${detail}>${marked(detail, query)}</small>` : nothing}` },
          { name: 'Kind', cell: ({ kind }) => kinds[kind][0] },
          { name: 'Roles', kind: 'member-roles', cell: (member) => html`<div>${member.roles.map((role) => html`<span class="badge quiet" title=${
            roleOf(role)?.description ?? ''}><bdi>${roleOf(role)?.name ?? `Role ${role}`}</bdi></span> `)}</div>` },
        ],
        items: found.slice(0, shown),
        key: ({ key }) => key,
        ...mayChange && { actions: (member) => ({
          name: member.name,
          id: member.key,
          items: [{ label: 'Change roles', action: () => change(member) }, { label: 'Remove', danger: true, action: () => remove(member) }],
        }) },
      })}${found.length > shown ? html`<p class="detail">The first ${shown} are shown. Search to find others.</p>` : nothing}</section>`}`;
  }

  /** A link to the page of a member. Those of accounts are for Admins. */
  function link({ kind, id: of }, label) {
    const address = { group: groupAddress, user: personAddress, account: accountAddress }[kind]({ id: of });
    return kind === 'group' || may('ADMIN') ? html`<a href=${address}>${label}</a>` : label;
  }

  function roleOf(role) {
    return access.roles.find((one) => one.id === role);
  }

  function roleNames({ roles }) {
    return roles.map((role) => roleOf(role)?.name);
  }

  /** Opens the dialog that gives a person, a service account or a group roles. */
  async function add() {
    try {
      if (!access) await load();
    } catch (error) {
      if (!signal.aborted) announce(`No member can be added. ${error.message}`);
      return;
    }
    const found = new Map(); // what the input has proposed, by value
    let chosen = ''; // a value
    const input = element(html`<input name="member" required placeholder="Search people, service accounts and groups">`);
    const groups = call('GET', '/api/admin/groups', undefined, { signal }).then(({ groups: all }) => all).catch(() => []);
    const box = combobox(input, { choices: proposals, choose: (value) => { chosen = value; } });
    const roles = roleChoices([]);
    const dialog = openDialog(['Add a member to ', text(state.opened.content.name)], () => form({
      submit: 'Add member', busy: 'Adding…', cancel: () => dialog.close(),
      async send() {
        const member = found.get(chosen);
        if (!member) throw new FieldError('member', 'Choose a person, a service account or a group.');
        const ids = await roles.chosen();
        await call('POST', `${path}/access`, { roles: ids, groups: member.kind === 'group' ? [member.id] : [], users: member.kind === 'group' ? [] : [member.id] });
        dialog.close();
        await changed(`${member.name} is a member of ${state.opened.content.name}.`);
      },
    }, field('Who', input, undefined, box.element), roles.element));
    input.focus();

    async function proposals(entered) {
      await new Promise((resolve) => { setTimeout(resolve, pause); });
      if (entered !== input.value.trim()) return [];
      const members = membersOf(access);
      const choices = [...await searchAccounts(entered, user, signal), ...(await groups).map(memberOfGroup)].map((member) => {
        found.set(member.key, member);
        const has = members.find(({ key }) => key === member.key);
        return { value: member.key, label: member.name, detail: [kinds[member.kind][0], member.detail, has && `has ${roleNames(has).join(', ')}`].filter(Boolean).join(' · ') };
      });
      const people = choices.filter(({ value }) => !value.startsWith('group'));
      return [...people, ...matching(choices.filter(({ value }) => value.startsWith('group')), entered)];
    }
  }

  /** Opens the dialog that replaces the roles of a member. */
  function change(member) {
    const roles = roleChoices(member.roles);
    const dialog = openDialog(['Roles of ', text(member.name)], () => form({
      submit: 'Save', busy: 'Saving…', cancel: () => dialog.close(),
      async send() {
        await call('PUT', `${memberPath(member)}?${new URLSearchParams({ roles: (await roles.chosen()).join() })}`);
        dialog.close();
        await changed(`The roles of ${member.name} were changed.`);
      },
    }, roles.element));
  }

  function remove(member) {
    const dialog = openDialog(['Remove ', text(member.name), '?'], () => [
      html`<p>${member.kind === 'group' ? 'Its members lose' : 'The account loses'} ${member.roles.length === 1 ? 'the role' : 'the roles'} ${
        text(roleNames(member).join(', '))} in this project with the next request.</p>`,
      form({
        submit: 'Remove member', busy: 'Removing…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', memberPath(member)).catch((error) => {
            if (error.status !== 404) throw error; // it is gone already
          });
          dialog.close();
          await changed(`${member.name} is no longer a member.`);
        },
      }),
    ]);
  }

  function memberPath({ kind, id: of }) {
    return `${path}/${kind === 'group' ? 'groups' : 'users'}/${of}/roles`;
  }

  async function changed(message) {
    announce(message);
    await reloadPermissions().catch(() => {}); // they may be those of the user
    await reload();
    if (state.tab !== 'members') await load().catch(() => {});
    if (document.activeElement === document.body) focusOn('.head button');
  }

  /**
   * The choice of roles. Owner and Member hold in the whole project, custom ones may hold in single environments. An Admin can also choose what
   * no role has yet, to switch one environment.
   */
  function roleChoices(selected) {
    const chosen = new Set(selected);
    const words = new Map(); // what custom roles permit, by id
    const place = element(html`<fieldset class="role-choices"></fieldset>`);
    const choices = [
      ...access.roles.map((role) => ({ key: role.id, ...role })),
      ...may('ADMIN') ? state.opened.content.environments.map(({ environment }) => switchRole(environment))
        .filter(({ name }) => !access.roles.some((role) => role.name === name)) : [],
    ];
    for (const role of choices) if (chosen.has(role.key)) loadWords(role);
    drawChoices();
    return { element: html`<div class="field">${place}</div>`, chosen: ids };

    function drawChoices() {
      render(html`<legend>Roles</legend>${repeat(choices, ({ key }) => key, (role, i) => html`<div class="check">
        <input type="checkbox" id="role-${i}" name=${i === 0 ? 'roles' : nothing} aria-describedby="role-${i}-about" .checked=${live(chosen.has(role.key))}
          @change=${({ target }) => choose(role, target.checked)}>
        <div><label for="role-${i}"><bdi>${role.name}</bdi></label><p class="hint" id="role-${i}-about"><bdi>${role.description}</bdi>${
          chosen.has(role.key) && words.has(role.key) ? html` <bdi>${words.get(role.key)}</bdi>` : nothing}</p></div></div>`)}`, place);
    }

    function choose(role, isChosen) {
      if (isChosen) chosen.add(role.key);
      else chosen.delete(role.key);
      if (isChosen) loadWords(role);
      drawChoices();
    }

    /** Says what a custom role permits. */
    async function loadWords({ key, type }) {
      if (type !== 'custom' || words.has(key)) return;
      const { permissions } = await call('GET', `/api/admin/roles/${key}`, undefined, { signal }).catch(() => ({ permissions: null }));
      if (!permissions) return;
      words.set(key, permissionWords(permissions));
      drawChoices();
    }

    /** The ids of the chosen roles. Those that do not exist are created. */
    async function ids() {
      if (chosen.size === 0) throw new FieldError('roles', 'Choose at least one role.');
      for (const role of choices) {
        if (!role.create || !chosen.has(role.key)) continue;
        const { roles } = await call('POST', '/api/admin/roles', role.create);
        chosen.delete(role.key);
        chosen.add(roles.id);
        Object.assign(role, { key: roles.id, create: undefined });
        access.roles.push(roles);
      }
      return [...chosen];
    }
  }
}

/** A role that permits to switch toggles in one environment, and nothing else. */
function switchRole(environment) {
  const name = `Switch ${environment}`;
  const description = `Turns toggles on and off in ${environment}, and nothing else.`;
  return {
    key: `switch ${environment}`, name, description,
    create: { name, description, type: 'custom', permissions: [{ name: 'UPDATE_FEATURE_ENVIRONMENT', environment }] },
  };
}

const accountKind = ({ accountType }) => (accountType === 'Service Account' ? 'account' : 'user');

const memberOfAccount = (account) => ({
  key: `user-${account.id}`, kind: accountKind(account), id: account.id, name: account.name || account.username || account.email || `User ${account.id}`,
  detail: account.email ?? account.username, roles: account.roles ?? [],
});

const memberOfGroup = ({ id, name, userCount, description, roles = [] }) => ({
  key: `group-${id}`, kind: 'group', id, name, detail: [counted(userCount, 'member'), description].filter(Boolean).join(' · '), roles,
});

/** How many members of each kind there are: "2 groups and 1 person". */
const numbers = (members) => listed(Object.entries(kinds).map(([kind, [one, many]]) => {
  const { length } = members.filter((member) => member.kind === kind);
  return length > 0 && counted(length, one.toLowerCase(), many);
}).filter(Boolean), 'and');

/** The members of a project: groups first, then by name. */
const membersOf = ({ users, groups }) => [
  ...groups.map(memberOfGroup), ...users.map(memberOfAccount),
].sort((a, b) => Number(b.kind === 'group') - Number(a.kind === 'group') || a.name.localeCompare(b.name, 'en'));

/** Finds people and service accounts. The search needs a user: with an API token, all people are loaded. */
async function searchAccounts(entered, user, signal) {
  if (entered.length < fewest) return [];
  if (user) {
    const found = await findAccounts(entered, signal).catch(() => []);
    return found.map((account) => memberOfAccount({ ...account, roles: [] }));
  }
  const { users } = await call('GET', '/api/admin/user-admin', undefined, { signal }).catch(() => ({ users: [] }));
  const matches = matcher(entered);
  return users.filter(({ name, email, username }) => matches(name, email, username)).map((account) => memberOfAccount({ ...account, roles: [] }));
}
