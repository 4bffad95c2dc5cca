// The page that creates or edits a context field, and shows what uses it: `#/context/NAME`, or `#/context?create`.

import { call, read } from '../api.js';
import { fieldPath, fieldsPath, loadUses, openDeletion, usesLinks, usesWords } from '../context-field.js';
import { loading, logAddress } from '../dom.js';
import { editResource, leaveFor } from '../editor.js';
import { inWords, wrongName } from '../messages.js';
import { html, live, nothing, render as show } from '../template.js';
import { relativeTime } from '../time.js';
import { draftValue, valueEditor } from '../values.js';
import { allowed, locked } from '../why.js';

const labels = { description: 'Description', stickiness: 'Use for stickiness', sortOrder: 'Order', legalValues: 'Legal values' };
const shownEvents = 5;

/** @param {?string} name null to create a field */
export async function renderField(content, context, name) {
  const { may, signal, announce, setTitle, setActions, setPath } = context;
  const isNew = name === null;
  setTitle(isNew ? 'Create a context field' : name);
  setPath(html`<a href="#/context">Context fields</a>`);
  show(loading('the context field'), content);
  const opened = isNew ? undefined : await read(fieldPath(name), { signal }).catch((error) => {
    if (error.status !== 404) throw error;
    return null;
  });
  if (opened === null) {
    show(html`<p class="empty">There is no such context field. It may have been deleted. <a href="#/context">Show the context fields</a>.</p>`, content);
    return;
  }
  const state = { uses: undefined, events: undefined }; // null if they could not be loaded
  const need = { permission: isNew ? 'CREATE_CONTEXT_FIELD' : 'UPDATE_CONTEXT_FIELD', to: isNew ? 'create context fields' : `edit the context field ${name}` };
  const editable = may(need.permission);
  const edit = editResource({
    path: isNew ? fieldsPath : fieldPath(name),
    opened,
    initial: { name: '', description: null, stickiness: false, sortOrder: null, legalValues: [] },
    draft: { kind: 'context-field', title: isNew ? 'a new context field' : `changes of the context field ${name}` },
    labels,
    toDraft,
    toBody: isNew ? (draft) => ({ name: draft.name, ...sent(draft) }) : sent,
    controlOf,
    say: (detail) => (detail.path === '/body/name' && detail.keyword === 'pattern' ? wrongName(edit.state.values.name) : inWords(detail)),
    draw,
    saved,
    signal,
  });
  const values = valueEditor({
    editable, announce, name: () => (isNew ? edit.state.values.name : name), errors: () => edit.state.errors, error: () => edit.error('legalValues'), change: (legalValues) => edit.set({ legalValues }), draw,
  });
  setActions(!isNew && allowed({ permission: 'DELETE_CONTEXT_FIELD', to: `delete the context field ${name}` }, context, 'Delete',
    html`<button type="button" class="danger quiet" @click=${remove}>Delete</button>`));
  draw();
  if (!isNew) await Promise.all([loadUsage(), loadHistory()]);

  async function loadUsage() {
    state.uses = await loadUses(name, signal).catch(() => null);
    if (!signal.aborted) draw();
  }

  /** The event log is for Admins. */
  async function loadHistory() {
    if (!may('ADMIN')) return;
    const parameters = new URLSearchParams({ subject: `IS:field:${name}`, limit: String(shownEvents) });
    state.events = (await call('GET', `/api/admin/search/events?${parameters}`, undefined, { signal }).catch(() => ({ events: null }))).events;
    if (!signal.aborted) draw();
  }

  function draw() {
    const { values: field } = edit.state;
    const input = (property, label, hint) => edit.input({
      name: property, label, hint, value: field[property] ?? '', disabled: !editable, change: (value) => edit.set({ [property]: value }),
    });
    show(html`<form class="editor" novalidate aria-label="Context field" @submit=${edit.submit}>
      <div class="editor-form">
        ${edit.conflict()}
        ${isNew ? input('name', 'Name', 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.') : nothing}
        ${input('description', 'Description')}
        <div class="field"><label class="check"><input type="checkbox" name="stickiness" .checked=${live(field.stickiness)} ?disabled=${!editable}
          aria-describedby="stickiness-hint" @change=${({ target }) => edit.set({ stickiness: target.checked })}> Use for stickiness</label>
          <p class="hint" id="stickiness-hint">Gradual rollouts can give users with the same value of this field the same result.</p></div>
        ${input('sortOrder', 'Order', 'Position in lists, the lowest first. Empty: after all other fields.')}
        ${values.template(field.legalValues)}
      </div>
      <aside aria-label="Usage and history">
        ${isNew ? nothing : html`<h2>Used by</h2>${usage()}${may('ADMIN') ? history() : nothing}`}
        ${edit.problem()}
        <div class="buttons">${editable ? html`${edit.saveButton(isNew ? 'Create context field' : 'Save')}
          <a class="button" href="#/context" @click=${edit.cancel}>Cancel</a>` : locked(need, context, 'Save')}</div>
      </aside>
    </form>`, content);
  }

  function usage() {
    const { uses } = state;
    if (!uses) return html`<p class="detail">${uses === null ? 'It could not be loaded.' : '…'}</p>`;
    const words = usesWords(uses);
    return words === '' ? html`<p class="detail">Nothing uses it.</p>` : html`<p>${words} it.</p><ul class="sentences">${usesLinks(name, uses)}</ul>`;
  }

  function history() {
    const { events } = state;
    return html`<h2>History</h2>
      ${events?.length > 0 ? html`<ul class="sentences">${events.map(({ summary, createdAt }) => html`<li><bdi>${summary}</bdi> <small class="detail">${
        relativeTime(new Date(createdAt))}</small></li>`)}</ul>` : html`<p class="detail">${events ? 'No changes in the event log.' : events === null ? 'It could not be loaded.' : '…'}</p>`}
      <p><a href=${logAddress({ subject: `field:${name}` })}>Show it in the event log</a></p>`;
  }

  function saved({ name: created }) {
    leaveFor('#/context', () => announce(isNew ? `Context field ${created} created.` : `Context field ${name} saved.`));
  }

  function remove() {
    openDeletion(opened.content, async () => {
      edit.cancel();
      leaveFor('#/context', () => announce(`Context field ${name} deleted.`));
    });
  }
}

/** The name of the control that shows an error, for a place in the body. */
function controlOf(place) {
  return place === 'name' || place.split('/')[0] in labels ? place : undefined;
}

/** The field as the page keeps it: the order is a text, and legal values have keys. */
const toDraft = ({ name, description, stickiness, sortOrder, legalValues }) => (
  { name, description, stickiness, sortOrder: sortOrder === undefined || sortOrder === null ? '' : String(sortOrder), legalValues: legalValues.map(draftValue) });

/** The body of the request that saves a field. The API says what is wrong with an order that is not a number. */
function sent({ description, stickiness, sortOrder, legalValues }) {
  const order = sortOrder.trim();
  return {
    description: description || null,
    stickiness,
    ...order !== '' && { sortOrder: /^[+-]?\d+$/.test(order) ? Number(order) : order },
    legalValues: legalValues.map(({ value, description: about }) => ({ value, ...about && { description: about } })),
  };
}
