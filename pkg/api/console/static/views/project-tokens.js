// The client tokens of a project: with them, applications get its toggles.

import { isPresent, tokenPath, tokensPathOf } from '../client-token.js';
import { counted, focusOn, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { loadEnvironments } from '../environment.js';
import { matcher } from '../search.js';
import { sorted } from '../table.js';
import { html, live, nothing } from '../template.js';
import { loadClientTokens, tokenOrders, tokenTexts } from '../token.js';
import { openCreation, openRevocation, openRotation } from './client-token-dialogs.js';
import { commonActions, copier, tokenTable } from './token-table.js';

const columns = ['name', 'environment', 'createdAt', 'seenAt', 'expiresAt'];
const columnOrders = Object.values(tokenOrders).map(({ label, compare }) => ({ name: label, compare }));

/** @param {Object} part the context of the page, and its `id`, `state` and `draw` */
export function projectTokens({ id, state, draw, may, signal, announce }) {
  let tokens = null;
  let environments = [];
  let query = '';
  let order = 'Name';
  const copy = copier(announce);
  const mayCreate = may('CREATE_PROJECT_API_TOKEN', id);
  return { load, template };

  async function load() {
    const isFirst = tokens === null;
    environments = await loadEnvironments(signal);
    tokens = await loadClientTokens(environments, signal, tokensPathOf(id));
    if (isFirst && mayCreate && draftFor('client-token') === id) create();
  }

  function template() {
    if (!tokens) return loading('the client tokens');
    const matches = matcher(query);
    const found = sorted(tokens.filter((token) => matches(...tokenTexts(token))), columnOrders, order);
    return html`
      <div class="title"><p class="lead">Applications get the toggles of the project with a client token. Tokens of all projects are not in the list.</p>
        ${mayCreate ? html`<div class="buttons"><button type="button" @click=${create}>Create token</button></div>` : nothing}</div>
      ${tokens.length === 0 ? html`<p class="empty">The project has no client tokens. Applications may use tokens of all projects.</p>` : html`
        <div class="finder" role="search"><input type="search" aria-label="Search" placeholder="Search names and projects" autocomplete="off" dir="auto"
          .value=${live(query)} @input=${({ target }) => { query = target.value; draw(); }}>
          <p class="detail count" role="status" tabindex="-1">${counted(found.length, 'token')}</p></div>
        <section class="results" aria-label="Tokens that match">${found.length === 0 ? html`<p class="empty">No token matches the search.</p>`
    : tokenTable({ caption: 'Client tokens', columns, tokens: found, environments, query, order, sort: (by) => { order = by; draw(); }, actions })}</section>`}`;
  }

  /** What can be done with a token. One of several projects belongs to none of them. */
  function actions(token) {
    const isOwn = token.projects.length === 1;
    const path = tokenPath(token, tokensPathOf(id));
    return [
      ...isOwn && isPresent(token) && mayCreate ? [{ label: 'Rotate', action: () => openRotation(token, changed, path) }] : [],
      ...isOwn && may('DELETE_PROJECT_API_TOKEN', id) ? [{
        label: 'Revoke', danger: true, action: () => openRevocation(token, changed, path),
      }] : [],
      ...commonActions(token, { may, copy }),
    ];
  }

  function create() {
    const own = environments.filter(({ name }) => state.opened.content.environments.some(({ environment }) => environment === name));
    openCreation(own, changed, id);
  }

  async function changed(message) {
    announce(message);
    await load();
    draw();
    if (document.activeElement === document.body) focusOn('main .title button');
  }
}
