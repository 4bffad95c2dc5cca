// The personal access tokens of the caller.

import { call } from '../api.js';
import { failure, loading } from '../dom.js';
import { draftFor } from '../draft.js';
import { tokenFilters } from '../expiry.js';
import { listView } from '../list.js';
import { html, render as show } from '../template.js';
import { tokenOrders, tokenTexts } from '../token.js';
import { createToken, deleteToken, ownPath, rotateToken } from './token-dialogs.js';
import { commonActions, copier, tokenTable } from './token-table.js';

export async function render(content, { user, may, search, signal, announce, setActions }) {
  if (!user) {
    show(html`${lead}<p class="notice">You are signed in with an API token. It belongs to the service and not to a user, so there are no tokens of
      your own. To see and create them, sign in with a personal access token.</p>`, content);
    return;
  }
  const owner = { path: ownPath, name: null };
  const state = { tokens: null, error: null };
  const copy = copier(announce);
  const list = listView({
    content,
    search,
    address: '#/tokens',
    item: 'token',
    placeholder: 'Search descriptions',
    texts: tokenTexts,
    filters: { show: { label: 'Show', choices: () => tokenFilters } },
    orders: tokenOrders,
    order: { sortBy: 'expiresAt', sortOrder: 'asc' },
    draw,
  });
  setActions(html`<button type="button" class="primary" @click=${() => createToken(owner, changed)}>Create token</button>`);
  draw();
  await load();
  if (state.tokens && draftFor('create-token') === ownPath) createToken(owner, changed);

  async function load() {
    try {
      const { pats } = await call('GET', ownPath, undefined, { signal });
      const tokens = pats.map((token) => ({ ...token, id: String(token.id), kind: 'pat', name: token.description, owner: null, role: null, risks: [] }));
      Object.assign(state, { tokens, error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { tokens, error } = state;
    show(html`${lead}${error ? failure(error, load) : !tokens ? loading('your tokens')
      : list.template(tokens, table, html`<p class="empty">You have no tokens. Create one for a script or a tool that calls the API.</p>`)}`, content);
  }

  function table(tokens, sorting) {
    return tokenTable({
      caption: 'Your tokens',
      columns: ['name', 'createdAt', 'seenAt', 'expiresAt'],
      tokens,
      actions: (token) => [
        { label: 'Rotate', action: () => rotateToken(owner, token, state.tokens, changed) },
        { label: 'Delete', danger: true, action: () => deleteToken(owner, token, changed) },
        ...commonActions(token, { may, copy }),
      ],
      ...sorting,
    });
  }

  /** Loads the list again after a change, and puts the focus where it can be continued. */
  async function changed(message) {
    announce(message);
    await load();
    if (document.activeElement === document.body) content.closest('main')?.querySelector('.head button').focus();
  }
}

const lead = html`<p class="lead">A personal access token signs a script or a tool in as its user, with the permissions of that user. Create one token
  for each place that uses it, so that you can delete it alone.</p>`;
