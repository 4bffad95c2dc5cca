// The caller's drafts of change requests, as bars that stay on all pages, and how many requests wait for the caller.

import { changeCount, changesOf, openRequest, requestAddress, requestChanges, searchRequests } from './change-request.js';
import { environmentName, loadEnvironments, namedEnvironment } from './environment.js';
import { html, nothing } from './template.js';

const most = 5; // drafts

/** Those who are told, until another user signs in. */
let watching = new AbortController();

/**
 * Shows the drafts of a user and the number of requests that wait for the user, now and after each change in this tab.
 * @param {{user: ?{id: number}, announce: Function}} context an API token has no user, and no drafts
 * @param {(shown: {bars: unknown, waiting: number}) => void} show
 */
export async function watchDrafts(context, show) {
  watching.abort();
  watching = new AbortController();
  const { signal } = watching;
  requestChanges.addEventListener('change', load, { signal });
  await load();

  async function load() {
    const { user } = context;
    const [own, { total }] = await Promise.all([
      user ? searchRequests({ createdBy: user.id, state: 'Draft', limit: most }, signal) : { requests: [] }, searchRequests({ actionable: true, limit: 1 }, signal)]);
    const [environments, ...opened] = own.requests.length === 0 ? [[]] : await Promise.all([loadEnvironments(signal), ...own.requests.map((draft) => openRequest(draft, signal))]);
    if (!signal.aborted) show({ bars: bars(opened.map(({ content }) => content).filter((draft) => changesOf(draft).length > 0), environments), waiting: total });
  }

  async function send(draft) {
    const { openSending } = await import('./views/request-dialogs.js');
    openSending(draft, context);
  }

  /** A bar for each draft: how many changes it has, and what can be done with it. */
  function bars(drafts, environments) {
    if (drafts.length === 0) return nothing;
    const which = ({ environment, project }) => html`<span class="visually-hidden"> the draft for ${environment} of ${project}</span>`;
    return html`<aside class="asked-bar" aria-label="Your drafts">${drafts.map((draft) => html`<p>
      <span><strong>${changeCount(draft)}</strong> for ${environmentName(namedEnvironment(environments, draft.environment))} of <bdi>${draft.project}</bdi>, not asked for yet</span>
      <a class="button" href=${requestAddress(draft)}>Review${which(draft)}</a>
      <button type="button" class="primary" @click=${() => send(draft)}>Send${which(draft)}</button></p>`)}</aside>`;
  }
}
