// Tag types: the list with the number of toggles that have tags of each, and the dialogs that create, change and delete one.

import { call, read } from '../api.js';
import { mergeForm, save } from '../conflict.js';
import { FieldError, checkName, field, form, openDialog } from '../dialog.js';
import { counted, failure, focusOn, loading, text } from '../dom.js';
import { draftFor, keepControls, writer } from '../draft.js';
import { denseTable } from '../table.js';
import { element, html, nothing, render as show } from '../template.js';
import { listAddress } from '../toggle.js';
import { allowed } from '../why.js';
import { dot, loadTagTypes } from './toggle-tags.js';

const path = '/api/admin/tag-types';
const labels = { description: 'Description', color: 'Color' };
const firstColor = '#5A67D8'; // of a type that gets a color

export async function render(content, context) {
  const { may, signal, announce, setActions } = context;
  const state = { types: null, tags: [], busy: false, error: null };
  setActions(allowed({ permission: 'CREATE_TAG_TYPE', to: 'create tag types' }, context, 'Create tag type',
    html`<button type="button" class="primary" @click=${() => openEditor(null, saved)}>Create tag type</button>`));
  await load();
  const continued = draftFor('tag-type');
  if (continued) await edit({ name: continued });
  else if (continued === null) openEditor(null, saved);

  async function load() {
    state.busy = true;
    draw();
    try {
      const [types, { tags }] = await Promise.all([loadTagTypes(signal), call('GET', '/api/admin/tags', undefined, { signal })]);
      Object.assign(state, { types, tags, error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    state.busy = false;
    draw();
  }

  function draw() {
    const { types, error, busy } = state;
    show(html`
      <p class="lead">A tag of a toggle has a type and a value, such as area: checkout. Types have colors, and lists of toggles can be filtered by tags.</p>
      ${error ? failure(error, load) : !types ? loading('the tag types')
    : html`<section class="results" aria-label="Tag types" aria-busy=${busy ? 'true' : nothing}>${list()}</section>`}`, content);
  }

  function list() {
    return denseTable({
      caption: 'Tag types',
      kind: 'few',
      columns: [
        { name: 'Name', cell: ({ name, color }) => html`${dot(color)} <bdi>${name}</bdi>` },
        { name: 'Description', cell: ({ description }) => text(description) },
        { name: 'Tags', cell: tagsOf },
      ],
      items: state.types,
      key: ({ name }) => name,
      actions: (may('UPDATE_TAG_TYPE') || may('DELETE_TAG_TYPE')) && ((type) => ({
        name: type.name,
        items: [
          ...may('UPDATE_TAG_TYPE') ? [{ label: 'Edit', action: () => edit(type) }] : [],
          ...may('DELETE_TAG_TYPE') ? [{ label: 'Delete', danger: true, action: () => remove(type) }] : [],
        ],
      })),
    });
  }

  /** The values that toggles have, each with a link to these toggles. */
  function tagsOf({ name }) {
    const values = state.tags.filter(({ type }) => type === name).map(({ value }) => value);
    if (values.length === 0) return html`<span class="detail">None</span>`;
    return html`<ul class="chips">${values.slice(0, 20).map((value) => html`
      <li class="chip"><a href=${listAddress({ tag: `IS:${name}:${value}` })}><bdi>${value}</bdi></a></li>`)}</ul>${
      values.length > 20 ? html` <span class="detail">and ${(values.length - 20).toLocaleString('en')} more</span>` : nothing}`;
  }

  /** Opens the editor with the current content of a type. */
  async function edit({ name }) {
    try {
      openEditor(typeOf(await read(`${path}/${encodeURIComponent(name)}`, { signal })), saved);
    } catch (error) {
      if (!signal.aborted) announce(`The tag type cannot be edited. ${error.message}`);
    }
  }

  async function saved(name, isNew) {
    announce(`Tag type ${name} ${isNew ? 'created' : 'saved'}.`);
    await load();
  }

  function remove({ name }) {
    const used = state.tags.filter(({ type }) => type === name).length;
    if (used > 0) {
      const dialog = openDialog([text(name), ' cannot be deleted'], () => html`
        <p>Toggles have ${counted(used, 'tag')} of this type. Remove the tags first.</p>
        <div class="buttons"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`);
      return;
    }
    const dialog = openDialog(['Delete the tag type ', text(name), '?'], () => form({
      submit: 'Delete tag type', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
      async send() {
        await call('DELETE', `${path}/${encodeURIComponent(name)}`).catch((error) => {
          if (error.status !== 404) throw error; // it is gone already
        });
        dialog.close();
        announce(`Tag type ${name} deleted.`);
        await load();
        focusOn('.head button');
      },
    }));
  }
}

/** The API wraps a tag type in a version. */
const typeOf = (opened) => ({ ...opened, content: opened.content.tagType });

/**
 * @param {{content: Object, etag: string}|null} opened the type to change, null to create one
 * @param {(name: string, isNew: boolean) => void} saved
 */
function openEditor(opened, saved) {
  const type = opened?.content;
  const changes = element(html`<div></div>`);
  const controls = {
    ...!type && { name: element(html`<input name="name" autocomplete="off" spellcheck="false" required>`) },
    description: element(html`<textarea name="description" rows="3" maxlength="1000" dir="auto"></textarea>`),
    color: element(html`<input name="color" autocomplete="off" spellcheck="false" value=${type ? type.color ?? '' : firstColor}>`),
  };
  controls.description.value = type?.description ?? '';
  const dialog = openDialog(type ? ['Edit ', text(type.name)] : 'Create a tag type', () => form(
    { submit: type ? 'Save' : 'Create tag type', busy: 'Saving…', cancel: () => draft.leave(), send },
    changes,
    controls.name ? field('Name', controls.name, 'Such as area. 2 to 50 letters, digits and . _ ~ -. The name cannot be changed later.') : nothing,
    field('Description', controls.description, 'What tags of the type are for.'),
    field('Color', controls.color, `In hexadecimal digits, such as ${firstColor}. Empty: none.`),
  ), undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: 'tag-type', about: type?.name ?? null, title: type ? `changes of the tag type ${type.name}` : 'a new tag type',
  });
  (controls.name ?? controls.description).focus();

  async function send() {
    const color = controls.color.value.trim();
    const body = { description: controls.description.value, color: color === '' ? null : color };
    const name = type?.name ?? controls.name.value.trim();
    if (!type) checkName(name);
    if (color !== '' && !/^#[\dA-Fa-f]{6}$/.test(color)) throw new FieldError('color', `Enter # and six hexadecimal digits, such as ${firstColor}.`);
    if (opened) {
      const answer = await save(`${path}/${encodeURIComponent(name)}`, body, opened, labels);
      if (answer.now) {
        const now = typeOf(answer.now);
        show(mergeForm({ before: opened.content, mine: body, theirs: now.content, labels, write: writer(controls) }), changes);
        opened = now;
        return;
      }
    } else await call('POST', path, { name, ...body });
    draft.done();
    saved(name, !type);
  }
}
