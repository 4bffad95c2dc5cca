// People: the list, and the pages of one.

import { loadAllTokens } from '../all-tokens.js';
import { failure, loading, logAddress, once } from '../dom.js';
import { draftFor } from '../draft.js';
import { leaveFor } from '../editor.js';
import { listView } from '../list.js';
import { groupAddress, loadPeople, personAddress } from '../person.js';
import { marked } from '../search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { openDeletion, openDisabling, openPersonEditor } from './person-dialogs.js';
import { lastUse, moment, tokenUse } from './token-table.js';

const address = '#/people';

const shownGroups = 2;
/** The classes of columns. */
const kinds = { role: 'one-line short', groups: 'one-line short', seenAt: 'token-use', createdAt: 'optional' };

const byName = (a, b) => a.name.localeCompare(b.name, 'en') || a.id - b.id;
const orders = {
  name: { label: 'Name', compare: byName },
  role: { label: 'Root role', compare: (a, b) => a.role.name.localeCompare(b.role.name, 'en') },
  groups: { label: 'Groups', compare: (a, b) => a.groups.length - b.groups.length },
  seenAt: { label: 'Tokens', compare: (a, b) => Date.parse(lastUse(a) ?? 0) - Date.parse(lastUse(b) ?? 0) || (a.tokens ?? []).length - (b.tokens ?? []).length },
  createdAt: { label: 'Added', compare: (a, b) => Date.parse(a.createdAt ?? 0) - Date.parse(b.createdAt ?? 0) },
};

export async function render(content, context) {
  if (context.detail) {
    const { renderPerson } = await import('./person-page.js');
    return renderPerson(content, context, context.detail);
  }
  const { search, signal, announce, setActions } = context;
  const state = { people: null, roles: [], error: null };
  const list = listView({
    content,
    search,
    address,
    item: 'person',
    items: 'people',
    placeholder: 'Search names, e-mail addresses and groups',
    texts: ({ name, email, username, groups }) => [name, email, username, ...groups.map((group) => group.name)],
    filters: {
      role: { label: 'Root role', choices: () => [{ value: '', label: 'All roles' },
        ...state.roles.map((role) => ({ value: String(role.id), label: role.name, test: (person) => person.rootRole === role.id }))] },
      show: { label: 'Show', choices: () => [
        { value: '', label: 'All people' },
        { value: 'enabled', label: 'Enabled', test: ({ disabled }) => !disabled },
        { value: 'disabled', label: 'Disabled', test: ({ disabled }) => disabled },
        { value: 'alone', label: 'In no group', test: ({ groups }) => groups.length === 0 },
      ] },
    },
    orders,
    order: { sortBy: 'name', sortOrder: 'asc' },
    draw,
  });
  setActions(html`<button type="button" class="primary" @click=${once(create)}>Add person</button>`);
  draw();
  const loaded = load();
  await loaded;
  if (state.people && draftFor('person') === null) create();

  async function load() {
    state.error = null;
    draw();
    try {
      Object.assign(state, await loadPeople(signal));
      addTokens(state.people, signal).catch(() => { // the list is complete without them
        for (const person of state.people) person.tokens ??= null;
      }).then(draw);
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { people, error } = state;
    show(html`
      <p class="lead">People sign in with their e-mail address. The root role counts everywhere, <a href="#/groups">groups</a> and <a href="#/projects">projects</a> add roles.</p>
      ${error ? failure(error, load) : !people ? loading('the people') : list.template(people, rows, html`<p class="empty">There are no people.</p>`)}`, content);
  }

  function rows(people, { query, ...sorting }) {
    const cells = {
      name: ({ id, name, email, disabled }) => html`<div class="named"><a href=${personAddress({ id })}>${marked(name, query)}</a>${
        disabled ? html` <span class="badge quiet">Disabled</span>` : nothing}</div>${
        email && email !== name ? html`<small class="line" title=${email}>${marked(email, query)}</small>` : nothing}`,
      role: ({ role }) => html`<bdi>${role.name}</bdi>`,
      groups: ({ groups }) => (groups.length === 0 ? html`<span class="detail">None</span>`
        : html`<span>${groups.slice(0, shownGroups).map((group, i) => html`${i > 0 ? ', ' : nothing}<a href=${groupAddress(group)} title=${group.name}>${marked(group.name, query)}</a>`)}${
          groups.length > shownGroups ? html` and ${(groups.length - shownGroups).toLocaleString('en')} more` : nothing}</span>`),
      seenAt: tokenUse,
      createdAt: ({ createdAt }) => (createdAt ? moment(createdAt) : html`<span class="detail">Unknown</span>`),
    };
    return denseTable({
      caption: 'People',
      kind: 'people',
      columns: Object.entries(orders).map(([by, { label, compare }]) => ({ name: label, kind: kinds[by], compare, cell: cells[by] })),
      items: people,
      key: ({ id }) => id,
      actions: (person) => ({
        name: person.name,
        id: `person-${person.id}`,
        items: [
          { label: 'Edit', action: () => openPersonEditor(person, state.roles, context, saved) },
          { label: 'Activity', href: logAddress({ createdBy: person.id }) },
          { label: 'History', href: logAddress({ subject: `user:${person.id}` }) },
          { label: person.disabled ? 'Enable' : 'Disable', action: () => openDisabling(person, announce, load) },
          { label: 'Delete', danger: true, action: () => openDeletion(person, deleted) },
        ],
      }),
      ...sorting,
    });
  }

  async function create() {
    await loaded; // the roles
    openPersonEditor(null, state.roles, context, ({ id, name }) => {
      leaveFor(personAddress({ id }), () => announce(`${name} was added, and can sign in.`));
    });
  }

  async function saved({ name }) {
    announce(`${name} saved.`);
    await load();
  }

  async function deleted({ name }) {
    announce(`${name} was deleted.`);
    await load();
  }
}

/** Loads the tokens of people. */
async function addTokens(people, signal) {
  const owned = new Map(people.map(({ id }) => [id, []]));
  for (const token of await loadAllTokens(signal)) owned.get(token.owner?.id)?.push(token);
  for (const person of people) person.tokens = owned.get(person.id);
}
