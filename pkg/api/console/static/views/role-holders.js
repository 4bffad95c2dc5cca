// Who has a role: people, service accounts and groups, in the whole service or in projects.

import { call } from '../api.js';
import { failure } from '../dom.js';
import { accountName, accountPage, groupAddress, loadGrants, loadGroups, peoplePath } from '../person.js';
import { projectAddress } from '../project.js';
import { isRoot } from '../role.js';
import { html, nothing } from '../template.js';
import { accountsPath } from './service-account-dialogs.js';

const shown = 50;

/**
 * @param {{id: number, type: string}} role
 * @param {{may: Function, signal: AbortSignal}} context of the page
 * @param {() => void} draw
 */
export function roleHolders(role, { may, signal }, draw) {
  const state = { holders: null, error: null };
  const isAdmin = may('ADMIN');
  return { load, template };

  async function load() {
    state.error = null;
    try {
      state.holders = isRoot(role) ? await inService() : await inProjects();
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  /** Only an Admin sees the root roles of people and service accounts. */
  async function inService() {
    const [groups, people, accounts] = await Promise.all([
      loadGroups(signal),
      isAdmin ? call('GET', peoplePath, undefined, { signal }).then(({ users }) => users) : [],
      isAdmin ? call('GET', accountsPath, undefined, { signal }).then(({ serviceAccounts }) => serviceAccounts) : [],
    ]);
    const has = ({ rootRole }) => rootRole === role.id;
    return [
      ...groups.filter(has).map((group) => ({ name: group.name, href: groupAddress(group), detail: 'group' })),
      ...people.filter(has).map((one) => ({ name: accountName(one), href: accountPage(one), detail: one.disabled ? 'disabled' : '' })),
      ...accounts.filter(has).map((one) => ({ name: accountName(one), href: `#/service-accounts/${one.id}`, detail: 'service account' })),
    ];
  }

  async function inProjects() {
    return (await loadGrants({ roles: [role.id] }, signal)).flatMap(({ project, users, groups }) => {
      const where = { project, projectHref: projectAddress(project.id, 'members') };
      return [
        ...groups.map((group) => ({ name: group.name, href: groupAddress(group), detail: 'group', ...where })),
        ...users.map((one) => ({ name: accountName(one), href: isAdmin ? accountPage(one) : undefined, detail: one.accountType === 'User' ? '' : 'service account', ...where })),
      ];
    });
  }

  function template() {
    const { holders, error } = state;
    return html`<section aria-label="Who has it"><h2>Who has it</h2>
      ${error ? failure(error, load) : !holders ? html`<p class="detail">…</p>` : holders.length === 0 ? html`<p class="detail">${
        isRoot(role) && !isAdmin ? 'No group. Only an Admin sees which people have it.' : 'Nobody.'}</p>` : html`
        <ul class="sentences">${holders.slice(0, shown).map(({ name, href, detail, project, projectHref }) => html`<li>${href ? html`<a href=${href}><bdi>${name}</bdi></a>`
          : html`<bdi>${name}</bdi>`}${detail ? html` <span class="detail">(${detail})</span>` : nothing}${
          project ? html` in <a href=${projectHref}><bdi>${project.name}</bdi></a>` : nothing}</li>`)}
          ${holders.length > shown ? html`<li>and ${(holders.length - shown).toLocaleString('en')} more</li>` : nothing}</ul>
        ${isRoot(role) && !isAdmin ? html`<p class="detail">Only an Admin sees which people have it.</p>` : nothing}`}</section>`;
  }
}
