// Segments: the list, and the page that creates or edits one.

import { call, read } from '../api.js';
import { apiConstraint, constraintEditor, draftConstraint } from '../constraints.js';
import { counted, form, h, loading, openDialog, text } from '../dom.js';
import { editResource } from '../editor.js';
import { environmentAddress } from '../environment.js';
import { matcher } from '../search.js';
import { loadSegments, segmentAddress, segmentsPath } from '../segment.js';
import { html, live, nothing, render as show, repeat } from '../template.js';
import { listAddress } from '../toggle.js';
import { constraintWords } from '../words.js';

const labels = { name: 'Name', description: 'Description', project: 'Project', constraints: 'Conditions' };
const shownUses = 100;

export async function render(content, context) {
  if (context.detail) return renderSegment(content, context, context.detail);
  const { may, search, signal, setActions } = context;
  const state = { segments: null, query: search.get('query') ?? '' };
  setActions(may('CREATE_SEGMENT') && h('a', { class: 'button primary', href: segmentAddress('new') }, 'Create segment'));
  draw();
  state.segments = await loadSegments(signal);
  return draw();

  function draw() {
    const { segments, query } = state;
    const matches = matcher(query);
    const found = segments?.filter(({ name, description }) => matches(name, description)) ?? [];
    show(html`
      <p class="lead">A segment is a list of conditions that several strategies share, such as the customers of a beta.</p>
      ${!segments ? loading('the segments') : segments.length === 0 ? html`<p class="empty">There are no segments.</p>` : html`
        <div class="finder" role="search"><input type="search" aria-label="Search" placeholder="Search names and descriptions" autocomplete="off" dir="auto"
          .value=${live(query)} @input=${filter}><p class="detail count" role="status">${counted(found.length, 'segment')}</p></div>
        ${found.length === 0 ? html`<p class="empty">No segment matches the search.</p>` : list(found)}`}`, content);
  }

  function list(segments) {
    return html`<table role="table" class="segments">
      <caption class="visually-hidden">Segments</caption>
      <thead role="rowgroup"><tr role="row">${['Name', 'Conditions', 'Used in toggles'].map((name) => html`
        <th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
      <tbody role="rowgroup">${repeat(segments, ({ id }) => id, ({ id, name, description, constraints, usedInFeatures }) => html`<tr role="row">
        <th role="rowheader" scope="row"><a href=${segmentAddress(id)}><bdi>${name}</bdi></a>${description
  ? html`<small class="detail"><bdi>${description}</bdi></small>` : nothing}</th>
        <td role="cell" data-label="Conditions"><bdi>${constraints.length === 0 ? 'None: it contains everyone' : constraints.map(constraintWords).join(' and ')}</bdi></td>
        <td role="cell" data-label="Used in toggles">${usedInFeatures === 0 ? '0' : html`<a href=${listAddress({ segment: name })}>${
  usedInFeatures.toLocaleString('en')}<span class="visually-hidden"> ${`${usedInFeatures === 1 ? 'toggle uses' : 'toggles use'} ${name}`}</span></a>`}</td></tr>`)}</tbody>
    </table>`;
  }

  function filter({ target: { value } }) {
    state.query = value;
    window.history.replaceState(null, '', value ? `#/segments?${new URLSearchParams({ query: value })}` : '#/segments');
    draw();
  }
}

async function renderSegment(content, context, id) {
  const { may, signal, announce, setTitle, setActions, setPath } = context;
  const isNew = id === 'new';
  setTitle(isNew ? 'Create a segment' : 'Segment');
  setPath(h('a', { href: '#/segments' }, 'Segments'));
  show(loading('the segment'), content);
  const path = isNew ? segmentsPath : `${segmentsPath}/${encodeURIComponent(id)}`;
  const [fields, opened, uses] = await Promise.all([
    call('GET', '/api/admin/context', undefined, { signal }),
    isNew ? undefined : read(path, { signal }).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    }),
    isNew ? [] : call('GET', `${path}/strategies`, undefined, { signal }).then(({ strategies }) => strategies, (error) => {
      if (error.status !== 404) throw error;
      return [];
    }),
  ]);
  if (opened === null) {
    show(html`<p class="empty">There is no such segment. It may have been deleted. <a href="#/segments">Show the segments</a>.</p>`, content);
    return;
  }
  const editable = may(isNew ? 'CREATE_SEGMENT' : 'UPDATE_SEGMENT');
  const edit = editResource({
    path,
    opened,
    initial: { name: '', description: null, project: null, constraints: [] },
    draft: { kind: 'segment', title: isNew ? 'a new segment' : `the segment ${opened.content.name}` },
    labels,
    toDraft,
    toBody: sent,
    controlOf,
    divide: (error) => (error.name === 'NameExistsError' ? { byControl: { name: error.message }, rest: '' } : undefined),
    draw,
    saved,
    signal,
  });
  const constraints = constraintEditor(() => fields, (next) => edit.set({ constraints: next }));
  if (!isNew) setTitle(opened.content.name);
  setActions(!isNew && may('DELETE_SEGMENT') && h('button', { type: 'button', class: 'danger quiet', onclick: remove }, 'Delete'));
  draw();

  function draw() {
    const { values: segment } = edit.state;
    const words = edit.body().constraints.map(constraintWords);
    const input = (name, label, hint) => edit.input({
      name, label, hint, value: segment[name] ?? '', disabled: !editable, change: (value) => edit.set({ [name]: value }),
    });
    show(html`<form class="editor" novalidate aria-label="Segment" @submit=${edit.submit}>
      <div class="editor-form">
        ${edit.conflict()}
        ${input('name', 'Name')}
        ${input('description', 'Description')}
        ${input('project', 'Project', 'A label. Strategies of all projects can use the segment.')}
        <fieldset ?disabled=${!editable}><legend>Conditions</legend><p class="detail">All of them must hold.</p>
          ${constraints(segment.constraints, edit.constraintErrors())}${edit.error('constraints')}</fieldset>
      </div>
      <aside aria-label="In words">
        <h2>In words</h2>
        <p><bdi>${words.length === 0 ? 'It contains everyone.' : words.join(' and ')}</bdi></p>
        ${isNew ? nothing : usage()}
        ${edit.problem()}
        ${editable ? html`<div class="buttons">${edit.saveButton(isNew ? 'Create segment' : 'Save')}
          <a class="button" href="#/segments" @click=${edit.cancel}>Cancel</a></div>` : nothing}
      </aside>
    </form>`, content);
  }

  function saved({ name }) {
    announce(`Segment ${name} ${isNew ? 'created' : 'saved'}.`);
    window.location.hash = '#/segments';
  }

  function usage() {
    return html`<h2>Used by</h2>${uses.length === 0 ? html`<p class="detail">No strategy uses it.</p>` : html`
      <ul class="sentences">${uses.slice(0, shownUses).map(({ projectId, featureName, environment }) => html`<li><a href=${
  environmentAddress({ project: projectId, name: featureName }, environment)}><bdi>${featureName}</bdi> in <bdi>${environment}</bdi></a></li>`)}
      ${uses.length > shownUses ? html`<li>and ${(uses.length - shownUses).toLocaleString('en')} more</li>` : nothing}</ul>
      <p class="detail">A change takes effect there at once.</p>`}`;
  }

  function remove() {
    const { name } = edit.state.opened.content;
    if (uses.length > 0) {
      const refusal = openDialog([text(name), ' cannot be deleted'], () => [
        h('p', null, `${counted(uses.length, 'strategy', 'strategies')} use it. They are listed on this page.`),
        h('div', { class: 'buttons' }, h('button', { type: 'button', onclick: () => refusal.close() }, 'Close')),
      ]);
      return;
    }
    const dialog = openDialog(['Delete ', text(name), '?'], () => [
      h('p', null, 'No strategy uses it. This cannot be undone.'),
      form({
        submit: 'Delete segment', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', path).catch((failure) => {
            if (failure.status !== 404) throw failure; // it is gone already
          });
          dialog.close();
          edit.cancel();
          announce(`Segment ${name} deleted.`);
          window.location.hash = '#/segments';
        },
      }),
    ]);
  }
}

/** The name of the control that shows an error, for a pointer into the body. */
function controlOf(pointer) {
  const [property, index] = pointer.split('/');
  if (property === 'constraints' && index !== undefined) return `constraint ${index}`;
  return property in labels ? property : undefined;
}

/** The segment as the editor keeps it: constraints have keys. */
const toDraft = ({ name, description, project, constraints }) => ({ name, description, project, constraints: constraints.map(draftConstraint) });

/** The body of the request that saves a segment. */
const sent = ({ name, description, project, constraints }) => ({
  name, description: description || null, project: project || null, constraints: constraints.map(apiConstraint) });
