// Change requests: the list, and a calendar of what is scheduled and frozen. The address has the filters: `#/change-requests?show=open&project=shop`.

import { requestAddress, requestBadge, requestChanges, requestsAddress, requestTitle, searchRequests } from '../change-request.js';
import { failure, loading, range, text } from '../dom.js';
import { environmentName, loadEnvironments, namedEnvironment } from '../environment.js';
import { searchEvents } from '../event-search.js';
import { denseTable } from '../table.js';
import { html, nothing, render as show } from '../template.js';
import { moment } from './token-table.js';

const pageSize = 50;
const open = 'Draft,In review,Approved,Scheduled';

/** The parts of the page by the parameter `show`, and what they search. */
const parts = {
  '': { label: 'For you', empty: 'Nothing waits for you.', filters: () => ({ actionable: true }) },
  yours: { label: 'Yours', empty: 'You have no open change requests.', filters: ({ id }) => ({ createdBy: id, state: open }) },
  open: { label: 'Open', empty: 'There are no open change requests.', filters: () => ({ state: open }) },
  closed: { label: 'Closed', empty: 'There are no closed change requests.', filters: () => ({ state: 'Applied,Rejected,Cancelled' }) },
  calendar: { label: 'Calendar' },
};

export async function render(content, context) {
  const { detail, search, user, signal, setProject } = context;
  if (detail) {
    const [project, id] = detail.includes('/') ? detail.split('/') : [await projectOf(detail, signal), detail];
    const { renderRequest } = await import('./request-page.js');
    return renderRequest(content, context, { project, id });
  }
  const project = search.get('project') ?? '';
  const of = Object.hasOwn(parts, search.get('show') ?? '') ? search.get('show') ?? '' : 'open';
  const offset = Number(search.get('offset') ?? 0);
  const state = { requests: null, total: 0, environments: [], calendar: null, error: null };
  setProject(project);
  requestChanges.addEventListener('change', load, { signal });
  return load();

  async function load() {
    state.error = null;
    draw();
    try {
      if (of === 'calendar') {
        const { requestCalendar } = await import('./request-calendar.js');
        state.calendar ??= requestCalendar(context, project, draw);
        await state.calendar.load();
      } else {
        const [{ requests, total }, environments] = await Promise.all([
          searchRequests({ project, ...parts[of].filters(user ?? {}), offset, limit: pageSize }, signal), loadEnvironments(signal)]);
        Object.assign(state, { requests, total, environments });
      }
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    if (signal.aborted) return;
    show(html`
      <p class="lead">A change request is a list of changes that other people approve, and that is applied at once or at its time.</p>
      <ul class="tabs" aria-label="Change requests">${Object.entries(parts).filter(([name]) => user || name !== 'yours').map(([name, { label }]) => html`<li><a
        href=${requestsAddress({ show: name, project })} aria-current=${name === of ? 'true' : nothing}>${label}</a></li>`)}</ul>
      ${state.error ? failure(state.error, load) : of === 'calendar' ? state.calendar?.template() ?? loading('the calendar')
    : !state.requests ? loading('the change requests') : list()}`, content);
  }

  function list() {
    const { requests, total } = state;
    const to = (start, label) => html`<a href=${requestsAddress({ show: of, project, offset: start ? String(start) : '' })}>${label}</a>`;
    return html`<section class="results" aria-label="Change requests">
      ${total === 0 ? nothing : html`<p class="detail count">${range(total, offset, pageSize, 'change request')}</p>`}
      ${requests.length === 0 ? html`<p class="empty">${offset > 0 ? 'There are no older change requests.' : parts[of].empty}</p>` : denseTable({
        caption: 'Change requests',
        kind: 'requests',
        columns: [
          { name: 'Request', cell: (request) => html`<div class="named"><a href=${requestAddress(request)}>${text(requestTitle(request))}</a></div>
            ${request.title ? html`<small class="line">${text(requestTitle({ ...request, title: undefined }))}</small>` : nothing}` },
          { name: 'State', cell: requestBadge },
          { name: 'Environment', cell: ({ environment: name }) => environmentName(namedEnvironment(state.environments, name)) },
          { name: 'Project', kind: 'one-line short', cell: (request) => html`<bdi>${request.project}</bdi>` },
          { name: 'By', kind: 'one-line short', cell: ({ createdBy }) => html`<bdi>${createdBy.username}</bdi>` },
          { name: 'Created', cell: ({ createdAt }) => moment(createdAt) },
        ],
        items: requests,
        key: ({ id }) => id,
      })}
      <nav class="months" aria-label="Pages of change requests">
        ${offset > 0 ? to(Math.max(0, offset - pageSize), '‹ Previous') : nothing}
        ${offset + requests.length < total ? to(offset + pageSize, 'Next ›') : nothing}</nav></section>`;
  }
}

/** The project of a request, which events about things of all projects do not have. The events of the request do. */
async function projectOf(id, signal) {
  const { events: [event] } = await searchEvents({ subject: `change-request:${id}` }, signal, 1);
  return event?.project ?? '';
}
