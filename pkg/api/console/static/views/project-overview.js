// The overview of a project: what it has, who may do what, and the own roles.

import { call } from '../api.js';
import { linked } from '../linked.js';
import { modes, ownerNames, projectAddress } from '../project.js';
import { html, nothing } from '../template.js';
import { time } from '../time.js';
import { listAddress, stageNames } from '../toggle.js';
import { listed } from '../words.js';

/** @param {Object} part the context of the page, and its `id`, `state` and `draw` */
export function projectOverview({ id, state, user }) {
  let roles = null; // those of the user in the project
  return { load, template };

  async function load() {
    if (user) ({ roles } = await call('GET', `/api/admin/user/roles?${new URLSearchParams({ projectId: id })}`));
  }

  function template() {
    const { content: project } = state.opened;
    const { description, mode, owners, environments, featureNaming, createdAt, updatedAt, archivedAt, members, linkTemplates, defaultStickiness } = project;
    const names = ownerNames(owners);
    return html`
      <p class="description">${description ? linked(description) : html`<span class="detail">No description.</span>`}</p>
      <dl class="sums">${numbers()}</dl>
      <dl class="panel">
        ${fact('ID', html`<code>${id}</code>`)}
        ${fact('Mode', html`${modes[mode].name}<div class="detail">${modes[mode].about}</div>`)}
        ${fact('Owners', names.length > 0 ? html`<bdi>${listed(names, 'and')}</bdi>` : html`<span class="detail">None. An Admin can give somebody this role.</span>`)}
        ${fact('Members', html`<a data-here href=${projectAddress(id, 'members')}>${members.toLocaleString('en')}</a>`)}
        ${roles ? fact('Your roles', ownRoles()) : nothing}
        ${fact('Environments', environments.length === 0 ? html`<span class="detail">None</span>` : html`<bdi>${environments.map(({ environment }) => environment).join(', ')}</bdi>`)}
        ${fact('Names of toggles', naming(featureNaming))}
        ${fact('Stickiness of new strategies', html`<bdi>${defaultStickiness}</bdi>`)}
        ${linkTemplates.length > 0 ? fact('Links of toggles', html`<bdi>${linkTemplates.map(({ title, urlTemplate }) => title ?? urlTemplate).join(', ')}</bdi>`) : nothing}
        ${createdAt ? fact('Created', time(createdAt)) : nothing}
        ${updatedAt ? fact('Changed', time(updatedAt)) : nothing}
        ${archivedAt ? fact('Archived', time(archivedAt)) : nothing}
      </dl>`;
  }

  /** The numbers of toggles by their stage, which lead to the lists. */
  function numbers() {
    return Object.keys(stageNames).filter(Boolean).map((name) => {
      const count = state.counts?.[name];
      return html`<div><dt>${stageNames[name]}</dt><dd>${count === undefined ? html`<span class="detail">${state.counts ? 'Unknown' : '…'}</span>`
        : html`<a href=${listAddress({ project: id, stage: name })}>${count.toLocaleString('en')}<span class="visually-hidden"> toggles: ${stageNames[name]}</span></a>`}</dd></div>`;
    });
  }

  function ownRoles() {
    if (roles.length === 0) return html`<span class="detail">You have no role in this project.</span>`;
    return html`<bdi>${listed([...new Set(roles.map(({ name }) => name))], 'and')}</bdi>`;
  }
}

const fact = (label, value) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`;

/** How the toggles of a project are named. */
function naming(pattern) {
  if (!pattern) return html`<span class="detail">Any name</span>`;
  const { pattern: expression, example, description } = pattern;
  return html`<code>${expression}</code>${example ? html`<span class="detail">, such as <bdi>${example}</bdi></span>` : nothing}${
    description ? html`<div class="detail"><bdi>${description}</bdi></div>` : nothing}`;
}
