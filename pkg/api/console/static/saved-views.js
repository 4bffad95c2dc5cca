// The views of the list of toggles that the user has saved: their links in the navigation, and what saves, renames and deletes one.

import { call, read } from './api.js';
import { field, FieldError, form, openDialog } from './dialog.js';
import { text } from './dom.js';
import { menu } from './menu.js';
import { element, html, nothing, repeat } from './template.js';
import { searchQuery } from './toggle.js';

const path = '/api/admin/user/views';
const most = 30; // views of an account
const attempts = 3; // of a change, if other tabs change the views at the same time
const preconditionFailed = 412;

// Who shows the views, until another user signs in.
/** @type {(views: Array<{name: string, query: string}>) => void} */
let show = () => {};

/**
 * Shows links to the views of the user, now and after each change in this tab.
 * @param {{announce: Function}} context
 * @param {(links: unknown) => void} showLinks
 */
export async function watchViews(context, showLinks) {
  show = (views) => showLinks(views.length === 0 ? nothing : html`<ul class="views" aria-label="Saved views">${repeat(views, ({ name }) => name, (view) => html`
    <li><a href="#/toggles?${view.query}"><bdi>${view.name}</bdi></a>${menu(`Actions for the view ${view.name}`, `view-${views.indexOf(view)}`, [
      { label: 'Rename', action: () => openRename(view, context) }, { label: 'Delete', danger: true, action: () => remove(view, context) }])}</li>`)}</ul>`);
  show((await call('GET', path)).views);
}

/**
 * Opens the dialog that saves a view.
 * @param {Object} filters of the list
 * @param {{announce: Function}} context
 */
export function openSave({ offset, ...filters }, { announce }) {
  openName('Save this view?', 'Save', '', async (name) => {
    const before = await change((views) => {
      const others = views.filter((view) => view.name !== name);
      if (others.length >= most) throw new FieldError('name', `You have ${most} views, which is the maximum. Delete one first.`);
      return [...others, { name, query: String(searchQuery(filters)) }];
    });
    announce(before.some((view) => view.name === name) ? `The view ${name} was replaced.` : `The view ${name} was saved.`, undo(before, `The view ${name} is as before.`));
  }, 'It keeps the filters, the search, the stage and the order. A view of yours with the same name is replaced.');
}

function openRename({ name: old }, { announce }) {
  openName(['Rename the view ', text(old), '?'], 'Rename', old, async (name) => {
    const before = await change((views) => {
      if (name !== old && views.some((view) => view.name === name)) throw new FieldError('name', `You have another view with the name ${name}.`);
      return views.map((view) => (view.name === old ? { ...view, name } : view));
    });
    announce(`The view ${old} is called ${name}.`, undo(before, `The view is called ${old} again.`));
  });
}

async function remove({ name }, { announce }) {
  try {
    const before = await change((views) => views.filter((view) => view.name !== name));
    announce(`The view ${name} was deleted.`, undo(before, `The view ${name} is back.`));
  } catch (error) {
    announce(`The view ${name} was not deleted. ${error.message}`);
  }
}

/** A function that restores views, and says so. */
const undo = (before, said) => async () => {
  await change(() => before);
  return said;
};

function openName(title, submit, name, send, hint = undefined) {
  const input = element(html`<input name="name" value=${name} maxlength="100" required autocomplete="off" dir="auto">`);
  const dialog = openDialog(title, () => form({
    submit, busy: 'Saving…', cancel: () => dialog.close(),
    async send() {
      const entered = input.value.trim();
      if (entered === '') throw new FieldError('name', 'Enter a name.');
      await send(entered);
      dialog.close();
    },
  }, field('Name', input, hint)));
  input.select();
}

/**
 * Changes the views as they are now, and shows them. Returns those before.
 * @param {(views: Array<{name: string, query: string}>) => Array<{name: string, query: string}>} edit
 */
async function change(edit) {
  for (let attempt = 1; ; attempt += 1) {
    const { content: { views: before }, etag } = await read(path);
    try {
      const { views } = await call('PUT', path, { views: edit(before) }, { etag });
      show(views);
      return before;
    } catch (error) {
      if (error.status !== preconditionFailed || attempt === attempts) throw error;
    }
  }
}
