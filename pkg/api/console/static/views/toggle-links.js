// The links of a toggle, with what adds, changes and deletes them, and those of its project that it lacks.

import { call } from '../api.js';
import { field, form, openDialog } from '../dialog.js';
import { focusOn, text } from '../dom.js';
import { projectLinks } from '../project.js';
import { element, html, nothing } from '../template.js';
import { changedToggles, togglePath } from '../toggle.js';
import { allowed } from '../why.js';

/**
 * The links of a toggle.
 * @param {Object} toggle
 * @param {Object|null} project its overview
 * @param {Object} context of the page
 */
export function toggleLinks(toggle, project, context) {
  const mayChange = context.may('UPDATE_FEATURE', toggle.project);
  const add = allowed({ permission: 'UPDATE_FEATURE', project: toggle.project, to: `add a link to ${toggle.name}` }, context, 'Add link',
    html`<button type="button" @click=${() => openLink(toggle, null, context)}>Add link</button>`);
  const others = projectLinks(project, toggle.name).filter(({ url }) => !toggle.links.some((link) => link.url === url));
  return html`<div class="chips toggle-links">
    ${toggle.links.length + others.length === 0 ? nothing : html`<ul class="chips" aria-label="Links">
      ${toggle.links.map((link) => html`<li class="chip">${page(link)}${mayChange ? html`
        <button type="button" aria-label="Change the link ${link.title ?? link.url}" @click=${() => openLink(toggle, link, context)}>✎</button>
        <button type="button" aria-label="Delete the link ${link.title ?? link.url}" @click=${() => deleteLink(toggle, link, context)}>×</button>` : nothing}</li>`)}
      ${others.map((link) => html`<li class="chip">${page(link)}</li>`)}
    </ul>`}
    ${add}
  </div>`;
}

/** A link to another page. The API permits only http and https addresses. */
const page = ({ url, title }) => html`<a href=${url} target="_blank" rel="noopener noreferrer" title=${url}><bdi>${title ?? shortened(url)}</bdi><span aria-hidden="true"> ↗</span></a>`;

const shortened = (url) => {
  const shown = url.replace(/^https?:\/\//, '');
  return shown.length > 40 ? `${shown.slice(0, 39)}…` : shown;
};

const linkPath = (toggle, { id }) => `${togglePath(toggle)}/link/${encodeURIComponent(id)}`;
const bodyOf = ({ url, title }) => ({ url, title });

async function deleteLink(toggle, link, { announce, signal }) {
  try {
    await call('DELETE', linkPath(toggle, link));
  } catch (error) {
    if (!signal.aborted) announce(`The link was not deleted. ${error.message}`);
    return;
  }
  announce(`The link ${link.title ?? link.url} was deleted.`, async () => {
    await call('POST', `${togglePath(toggle)}/link`, bodyOf(link));
    changedToggles();
    return 'Undone.';
  });
  changedToggles();
  focusOn('.toggle-links button');
}

/** Asks for the URL and the title of a link, or of a new one. */
function openLink(toggle, link, { announce }) {
  const url = element(html`<input name="url" type="url" maxlength="1000" placeholder="https://" required spellcheck="false" value=${link?.url ?? ''}>`);
  const title = element(html`<input name="title" maxlength="200" dir="auto" value=${link?.title ?? ''}>`);
  const dialog = openDialog([link ? 'Change a link of ' : 'Add a link to ', text(toggle.name)], () => [
    form({
      submit: link ? 'Save' : 'Add link', busy: 'Saving…', cancel: () => dialog.close(),
      async send() {
        const body = { url: url.value.trim(), title: title.value.trim() || null };
        await call(link ? 'PUT' : 'POST', link ? linkPath(toggle, link) : `${togglePath(toggle)}/link`, body);
        dialog.close();
        announce(`${toggle.name} has the link ${body.title ?? body.url}.`);
        changedToggles();
      },
    }, field('URL', url, 'Such as the address of a ticket, a design or a dashboard.'), field('Title', title)),
  ]);
  url.focus();
}
