// Segments: the list, and the page that creates or edits one.

import { call, read } from '../api.js';
import { apiConstraint, constraintEditor, draftConstraint } from '../constraints.js';
import { form, openLoadedDialog } from '../dialog.js';
import { counted, failure, loading, text } from '../dom.js';
import { editResource, leaveFor } from '../editor.js';
import { environmentAddress, environmentName, isProduction, loadEnvironments } from '../environment.js';
import { projectInput } from '../project.js';
import { changedSince } from '../restore.js';
import { marked, matcher } from '../search.js';
import { loadSegments, loadSegmentUses, mayChange, segmentAddress, segmentLabels, segmentNeed, segmentsPath, usesInWords, valueChanges } from '../segment.js';
import { denseTable, sorted } from '../table.js';
import { tabs } from '../tabs.js';
import { html, live, nothing, render as show } from '../template.js';
import { listAddress } from '../toggle.js';
import { allowed, labelFor, locked, wayOf } from '../why.js';
import { constraintWords, listed } from '../words.js';
import { makeChange } from './change-sheet.js';
import { inProduction, segmentItem } from './segment-change.js';

const shownUses = 100;
const filters = { '': 'All', unused: 'Unused' };

export async function render(content, context) {
  if (context.detail) return renderSegment(content, context, context.detail);
  const { may, search, signal, announce, setActions } = context;
  const state = {
    segments: null,
    query: search.get('query') ?? '',
    filter: search.get('show') === 'unused' ? 'unused' : '',
    order: search.get('sort') ?? 'Name', // see `denseTable`
    error: null,
  };
  const create = html`<a class="button primary" href=${segmentAddress('new')}>Create segment</a>`;
  setActions(may('UPDATE_PROJECT_SEGMENT') ? create : allowed({ permission: 'CREATE_SEGMENT', to: 'create segments' }, context, 'Create segment', create));
  return load();

  async function load() {
    state.error = null;
    draw();
    try {
      state.segments = await loadSegments(signal);
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
  }

  function draw() {
    const { segments, error } = state;
    show(html`
      <p class="lead">A segment is a list of conditions that several strategies share, such as the customers of a beta.</p>
      ${error ? failure(error, load) : !segments ? loading('the segments')
    : segments.length === 0 ? html`<p class="empty">There are no segments.</p>` : found()}`, content);
  }

  function found() {
    const { segments, query, filter, order } = state;
    const matches = matcher(query);
    const searched = segments.filter(({ name, description }) => matches(name, description));
    const of = { '': searched, unused: searched.filter(({ usedInFeatures }) => usedInFeatures === 0) };
    const all = sorted(of[filter], columns(), order);
    return html`
      ${tabs('Usage', Object.entries(filters).map(([name, label]) => (
    { name, label, count: of[name].length, isCurrent: name === filter, href: address({ filter: name }) })), ({ name }) => change({ filter: name }))}
      <div class="finder" role="search"><input type="search" aria-label="Search" placeholder="Search names and descriptions" autocomplete="off" dir="auto"
        .value=${live(query)} @input=${({ target: { value } }) => change({ query: value })}>
        <p class="detail count" role="status" tabindex="-1">${counted(all.length, 'segment')}</p></div>
      <section class="results" aria-label="Segments that match">${all.length === 0 ? html`<p class="empty">No segment matches the search and the filter.</p>`
    : denseTable({
      caption: 'Segments',
      columns: columns(),
      items: all,
      key: ({ id }) => id,
      order,
      sort: (by) => change({ order: by }),
      actions: ['UPDATE_SEGMENT', 'DELETE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'].some((permission) => may(permission)) ? (segment) => ({
        name: segment.name,
        items: [
          ...mayChange(context, 'UPDATE_SEGMENT', segment) ? [{ label: 'Edit', href: segmentAddress(segment.id) }] : [],
          ...mayChange(context, 'DELETE_SEGMENT', segment) ? [{ label: 'Delete', danger: true, action: () => openDeletion(segment, () => deleted(segment)) }] : [],
        ],
      }) : undefined,
    })}</section>`;
  }

  function columns() {
    return [
      { name: 'Name', compare: (a, b) => a.name.localeCompare(b.name, 'en'), cell: ({ id, name, description }) => html`
        <div class="named"><a href=${segmentAddress(id)}>${marked(name, state.query)}</a></div>
        ${description ? html`<small class="line" title=${description}>${marked(description, state.query)}</small>` : nothing}` },
      { name: 'Conditions', kind: 'one-line', cell: ({ constraints }) => {
        const words = constraints.length === 0 ? 'None: it contains everyone' : constraints.map(constraintWords).join(' and ');
        return html`<bdi title=${words}>${words}</bdi>`;
      } },
      { name: 'Used in toggles', kind: 'number', compare: (a, b) => a.usedInFeatures - b.usedInFeatures, cell: ({ name, usedInFeatures: count }) => (count === 0 ? '0'
        : html`<a href=${listAddress({ segment: `IS:${name}` })}>${count.toLocaleString('en')}<span class="visually-hidden"> ${
          `${count === 1 ? 'toggle uses' : 'toggles use'} ${name}`}</span></a>`) },
    ];
  }

  /** Shows another part of the list in the same entry of the history. */
  function change(changes) {
    Object.assign(state, changes);
    window.history.replaceState(null, '', address());
    draw();
  }

  function address(changes) {
    const { query, filter, order } = { ...state, ...changes };
    const parameters = new URLSearchParams(Object.entries({ query, show: filter, sort: order === 'Name' ? '' : order }).filter(([, value]) => value));
    return `#/segments${parameters.size > 0 ? '?' : ''}${parameters}`;
  }

  async function deleted({ name }) {
    await load();
    announce(`Segment ${name} deleted.`);
    content.querySelector('.count')?.focus();
  }
}

async function renderSegment(content, context, id) {
  const { may, learnAsking, signal, announce, setTitle, setActions, setPath } = context;
  const isNew = id === 'new';
  setTitle(isNew ? 'Create a segment' : 'Segment');
  setPath(html`<a href="#/segments">Segments</a>`);
  show(loading('the segment'), content);
  const path = isNew ? segmentsPath : `${segmentsPath}/${encodeURIComponent(id)}`;
  const [fields, opened, uses, environments] = await Promise.all([
    call('GET', '/api/admin/context', undefined, { signal }),
    isNew ? undefined : read(path, { signal }).catch((error) => {
      if (error.status !== 404) throw error;
      return null;
    }),
    isNew ? [] : loadSegmentUses(id, signal).catch((error) => {
      if (error.status !== 404) throw error;
      return [];
    }),
    isNew ? [] : loadEnvironments(signal),
  ]);
  await learnAsking([...new Set(uses.map(({ projectId }) => projectId))]);
  if (opened === null) {
    show(html`<p class="empty">There is no such segment. It may have been deleted. <a href="#/segments">Show the segments</a>.</p>`, content);
    return;
  }
  const of = opened?.content ?? { project: null };
  const need = segmentNeed(isNew ? 'CREATE_SEGMENT' : 'UPDATE_SEGMENT', of, isNew ? 'create segments' : `edit the segment ${opened.content.name}`);
  const mayEdit = isNew ? may('CREATE_SEGMENT') || may('UPDATE_PROJECT_SEGMENT') : mayChange(context, 'UPDATE_SEGMENT', of);
  const way = mayEdit ? 'make' : wayOf({ ...need, places: uses.map(({ projectId, environment }) => ({ project: projectId, environment: { name: environment } })) }, context);
  const editable = way !== '';
  const edit = editResource({
    path,
    opened,
    initial: { name: '', description: null, project: null, constraints: [] },
    draft: { kind: 'segment', title: isNew ? 'a new segment' : `the segment ${opened.content.name}` },
    labels: segmentLabels,
    toDraft,
    toBody: sent,
    controlOf,
    confirm: isNew ? undefined : confirmSaving,
    draw,
    saved,
    signal,
  });
  const constraints = constraintEditor(() => fields, (next) => edit.set({ constraints: next }), announce);
  const project = projectInput(edit.state.values.project ?? '', (value) => edit.set({ project: value || null }));
  let shownProject = project.input.value;
  project.input.disabled = !editable;
  const production = environments.filter(isProduction);
  const liveToggles = inProduction(uses, environments);
  if (!isNew) setTitle(opened.content.name);
  setActions(!isNew && (mayChange(context, 'DELETE_SEGMENT', of) ? html`<button type="button" class="danger quiet" @click=${remove}>Delete</button>`
    : locked(segmentNeed('DELETE_SEGMENT', of, `delete the segment ${opened.content.name}`), context, 'Delete')));
  if (uses.length > 0) setTitle(opened.content.name, summary());
  draw();

  function draw() {
    const { values: segment } = edit.state;
    const words = edit.body().constraints.map(constraintWords);
    if (shownProject !== (segment.project ?? '')) project.set(shownProject = segment.project ?? '');
    const input = (name, label, hint) => edit.input({
      name, label, hint, value: segment[name] ?? '', disabled: !editable, change: (value) => edit.set({ [name]: value }),
    });
    show(html`<form class="editor" novalidate aria-label="Segment" @submit=${edit.submit}>
      <div class="editor-form">
        ${edit.conflict()}
        ${input('name', 'Name')}
        ${input('description', 'Description')}
        <div class="field"><label for=${project.input.id}>Project</label>${project.element}
          <p class="hint">Strategies of all projects can use the segment. Those who may change segments of the project may change it, too.</p>${edit.error('project')}</div>
        <fieldset ?disabled=${!editable}><legend>Conditions</legend><p class="detail">All of them must hold.</p>
          ${constraints(segment.constraints, edit.constraintErrors())}${edit.error('constraints')}</fieldset>
      </div>
      <aside aria-label="In words">
        <h2>In words</h2>
        <p><bdi>${words.length === 0 ? 'It contains everyone.' : words.join(' and ')}</bdi></p>
        ${edit.problem()}
        <div class="buttons">${editable ? html`${edit.saveButton(labelFor(way, isNew ? 'Create segment' : 'Save'))}
          <a class="button" href="#/segments" @click=${edit.cancel}>Cancel</a>` : locked(need, context, isNew ? 'Create segment' : 'Save')}</div>
        ${isNew ? nothing : usage()}
      </aside>
    </form>`, content);
  }

  /** What uses it, beside the heading. */
  function summary() {
    return html`<p class="detail">Used by ${usesInWords(uses)}${liveToggles.length > 0 ? html` · ${liveToggles.length.toLocaleString('en')} in ${
      environmentName(production[0])}${production.length > 1 ? ' and others' : nothing}` : nothing} <a href=${
      listAddress({ segment: `IS:${opened.content.name}` })}>Show</a></p>`;
  }

  /** Saves it. A change of the conditions changes what applications get wherever a strategy uses it. */
  async function confirmSaving(saving) {
    const { content: segment } = edit.state.opened;
    const before = { ...segment, constraints: segment.constraints.map(draftConstraint).map(apiConstraint) };
    const after = edit.body();
    const counts = valueChanges(before.constraints, after.constraints);
    const result = await makeChange({
      title: ['Save the segment ', text(before.name), '?'],
      submit: 'Save',
      throws: true,
      content: [html`<p>${liveToggles.length === 0 ? nothing : html`${counted(liveToggles.length, 'production toggle')} ${
        liveToggles.length === 1 ? 'evaluates' : 'evaluate'} this segment: ${text(listed(liveToggles, 'and'))}. `}${counts === '' ? nothing : `${counts}.`}</p>`],
      items: [segmentItem(before, after, { uses, environments, permission: need.permission })],
      send: ({ write }) => saving(write),
    }, context);
    if (result !== 'asked') return;
    edit.cancel();
    leaveFor('#/segments', () => announce('Added to your draft.'));
  }

  /** Returns what gives the segment the properties that it had before. */
  function undoing(before, made) {
    return Object.assign(undo, { items: [segmentItem({ ...made, id }, before, { uses, environments, permission: need.permission })] });

    async function undo() {
      const { content: now, etag } = await read(path);
      if (JSON.stringify(sent(toDraft(now))) !== JSON.stringify(made)) throw changedSince();
      const result = await makeChange({
        title: 'Undo this change?', submit: 'Undo', items: [segmentItem({ ...made, id: now.id }, before, { uses, environments, permission: need.permission })],
        send: ({ write }) => write('PUT', path, before, { etag }),
      }, context);
      return result === 'made' ? `Segment ${before.name} is as it was.` : undefined;
    }
  }

  function saved(made) {
    const { name } = made;
    leaveFor('#/segments', () => announce(`Segment ${name} ${isNew ? 'created' : 'saved'}.`, isNew ? undefined : undoing(sent(toDraft(edit.state.opened.content)), made)));
  }

  function usage() {
    return html`<h2>Used by</h2>${uses.length === 0 ? html`<p class="detail">No strategy uses it.</p>` : html`
      <ul class="sentences">${usesLinks(uses)}</ul>
      <p class="detail">A change takes effect there at once.</p>`}`;
  }

  function remove() {
    const { name } = edit.state.opened.content;
    openDeletion({ id, name }, () => {
      edit.cancel();
      leaveFor('#/segments', () => announce(`Segment ${name} deleted.`));
    });
  }
}

/** Links to the toggles in the environments where strategies are, as items of a list. */
const usesLinks = (uses) => [
  ...uses.slice(0, shownUses).map(({ projectId, featureName, environment }) => html`<li><a href=${
    environmentAddress({ project: projectId, name: featureName }, environment)}>${text(featureName)} in ${text(environment)}</a></li>`),
  uses.length > shownUses ? html`<li>and ${(uses.length - shownUses).toLocaleString('en')} more</li>` : nothing,
];

/**
 * Opens the dialog that deletes a segment, or says where it is used: then it cannot be deleted.
 * @param {{id: number, name: string}} segment
 * @param {() => void} deleted
 */
function openDeletion({ id, name }, deleted) {
  openLoadedDialog(['Delete ', text(name), '?'], 'what uses it', (signal) => loadSegmentUses(id, signal), (uses, close) => {
    if (uses.length > 0) {
      return html`<p>It cannot be deleted: ${usesInWords(uses)} ${uses.length === 1 ? 'uses' : 'use'} it.</p>
        <ul class="sentences">${usesLinks(uses)}</ul>
        <div class="buttons"><a class="button" href=${listAddress({ segment: `IS:${name}` })}>Show them</a>
          <button type="button" class="primary" @click=${close}>Close</button></div>`;
    }
    return [
      html`<p>No strategy uses it. This cannot be undone.</p>`,
      form({
        submit: 'Delete segment', busy: 'Deleting…', danger: true, cancel: close,
        async send() {
          await call('DELETE', `${segmentsPath}/${encodeURIComponent(id)}`).catch((error) => {
            if (error.status !== 404) throw error; // it is gone already
          });
          close();
          await deleted();
        },
      }),
    ];
  });
}

/** The name of the control that shows an error, for a place in the body. */
function controlOf(place) {
  const [property, index] = place.split('/');
  if (property === 'constraints' && index !== undefined) return `constraint ${index}`;
  return property in segmentLabels ? property : undefined;
}

/** The segment as the editor keeps it: constraints have keys. */
const toDraft = ({ name, description, project, constraints }) => ({ name, description, project, constraints: constraints.map(draftConstraint) });

/** The body of the request that saves a segment. */
const sent = ({ name, description, project, constraints }) => ({
  name, description: description || null, project: project || null, constraints: constraints.map(apiConstraint) });
