// The tags of a toggle, in the colors of their types, with what adds and removes them.

import { call } from '../api.js';
import { field, form, openDialog } from '../dialog.js';
import { focusOn, text } from '../dom.js';
import { element, html, nothing } from '../template.js';
import { changedToggles } from '../toggle.js';
import { allowed } from '../why.js';

/**
 * The tags of a toggle.
 * @param {Object} toggle
 * @param {Object[]} types of tags
 * @param {Object} context of the page
 */
export function toggleTags(toggle, types, context) {
  const mayChange = context.may('UPDATE_FEATURE', toggle.project);
  const add = allowed({ permission: 'UPDATE_FEATURE', project: toggle.project, to: `add a tag to ${toggle.name}` }, context, 'Add tag',
    html`<button type="button" @click=${() => openTagDialog(toggle, types, context)}>Add tag</button>`);
  return html`<div class="chips tags">
    ${toggle.tags.length === 0 ? nothing : html`<ul class="chips" aria-label="Tags">${toggle.tags.map((tag) => html`<li class="chip">
      ${dot(types.find(({ name }) => name === tag.type)?.color)}<span>${tag.type === 'simple' ? nothing : html`<small><bdi>${tag.type}</bdi></small> `}<bdi>${tag.value}</bdi></span>
      ${mayChange ? html`<button type="button" aria-label="Remove the tag ${tag.type}: ${tag.value}" @click=${() => removeTag(toggle, tag, context)}>×</button>` : nothing}
    </li>`)}</ul>`}
    ${add}
  </div>`;
}

/** A dot in the color of a type. The policy of the pages permits no style in a template. */
export const dot = (color) => (color ? html`<svg class="dot" viewBox="0 0 10 10" aria-hidden="true"><circle cx="5" cy="5" r="5" fill=${color}></circle></svg>` : nothing);

/** All tag types. */
export const loadTagTypes = async (signal) => (await call('GET', '/api/admin/tag-types', undefined, { signal })).tagTypes;

const tagsPath = ({ name }) => `/api/admin/features/${encodeURIComponent(name)}/tags`;

async function removeTag(toggle, { type, value }, { announce, signal }) {
  try {
    await call('DELETE', `${tagsPath(toggle)}/${encodeURIComponent(type)}/${encodeURIComponent(value)}`);
  } catch (error) {
    if (!signal.aborted) announce(`The tag was not removed. ${error.message}`);
    return;
  }
  announce(`The tag ${value} was removed from ${toggle.name}.`);
  changedToggles();
  focusOn('.tags button');
}

function openTagDialog(toggle, types, { announce }) {
  const type = element(html`<select name="type">${types.map(({ name }) => html`<option value=${name}>${name}</option>`)}</select>`);
  const value = element(html`<input name="value" maxlength="50" required>`);
  type.value = 'simple';
  const dialog = openDialog(['Add a tag to ', text(toggle.name)], () => [
    form({
      submit: 'Add tag', busy: 'Adding…', cancel: () => dialog.close(),
      async send() {
        const tag = await call('POST', tagsPath(toggle), { type: type.value, value: value.value });
        dialog.close();
        announce(`${toggle.name} has the tag ${tag.value}.`);
        changedToggles();
      },
    }, types.length > 1 ? field('Type', type) : nothing, field('Tag', value, '2 to 50 characters, such as the name of a team.')),
  ]);
}
