// The dialogs that create, change and delete groups.

import { call, read } from '../api.js';
import { mergeForm, save } from '../conflict.js';
import { field, form, openDialog } from '../dialog.js';
import { counted, text } from '../dom.js';
import { keepControls, writer } from '../draft.js';
import { groupPath, groupsPath } from '../person.js';
import { isRoot } from '../role.js';
import { element, html, render } from '../template.js';

const labels = { name: 'Name', description: 'Description', rootRole: 'Root role', mappingsSSO: 'Values of the issuer' };

/**
 * Opens the dialog that creates a group, or changes one. Its members are on its page.
 * @param {Object|null} group
 * @param {Object[]} roles
 * @param {{signal: AbortSignal, announce: (message: string) => void}} context of the page
 * @param {(group: Object) => void} saved called after it
 */
export async function openGroupEditor(group, roles, { signal, announce }, saved) {
  let opened = null;
  try {
    if (group) opened = await read(groupPath(group.id), { signal });
  } catch (error) {
    if (!signal.aborted) announce(`Group ${group.name} cannot be edited. ${error.message}`);
    return;
  }
  const begun = opened?.content ?? { name: '', description: null, rootRole: null, mappingsSSO: [] };
  const controls = {
    name: element(html`<input name="name" autocomplete="off" dir="auto" required value=${begun.name}>`),
    description: element(html`<textarea name="description" rows="2" dir="auto"></textarea>`),
    rootRole: element(html`<select name="rootRole"><option value="">None</option>${roles.filter(isRoot).map((role) => html`
      <option value=${role.id} ?selected=${role.id === begun.rootRole}>${role.name}</option>`)}</select>`),
    mappingsSSO: element(html`<textarea name="mappingsSSO" rows="2" spellcheck="false" dir="auto"></textarea>`),
  };
  controls.description.value = begun.description ?? '';
  controls.mappingsSSO.value = begun.mappingsSSO.join('\n');
  const changes = element(html`<div></div>`);
  const dialog = openDialog(group ? ['Edit group ', text(group.name)] : 'Create a group', () => [
    form({ submit: group ? 'Save' : 'Create group', busy: group ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send },
      changes,
      field(labels.name, controls.name),
      field(labels.description, controls.description),
      field(labels.rootRole, controls.rootRole, 'All members have it besides their own; the higher one counts.'),
      field(labels.mappingsSSO, controls.mappingsSSO, 'One in each line. People whose ID token has one of them in the claim for groups are members.')),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: 'group', about: group?.id ?? null, title: group ? `changes of the group ${group.name}` : 'a new group',
  });
  controls.name.focus();

  async function send() {
    const body = {
      name: controls.name.value,
      description: controls.description.value || null,
      rootRole: controls.rootRole.value === '' ? null : Number(controls.rootRole.value),
      mappingsSSO: controls.mappingsSSO.value.split('\n').map((line) => line.trim()).filter(Boolean),
    };
    let result;
    if (!opened) result = await call('POST', groupsPath, body);
    else {
      const answer = await save(groupPath(group.id), body, opened, labels);
      if (answer.now) {
        render(mergeForm({ before: opened.content, mine: body, theirs: answer.now.content, labels, write, say }), changes);
        opened = answer.now;
        return;
      }
      ({ result } = answer);
    }
    draft.done();
    await saved(result);
  }

  /** Enters a value of the group that someone else has saved. */
  function write(property, value) {
    writer(controls)(property, property === 'mappingsSSO' ? value.join('\n') : value);
  }

  function say(property, value) {
    if (property === 'mappingsSSO') return value.length === 0 ? 'none' : value.join(', ');
    return property === 'rootRole' ? roles.find(({ id }) => id === value)?.name : undefined;
  }
}

/**
 * Deletes a group after a question, which says what ends.
 * @param {{id: number, name: string, userCount: number, mappingsSSO: string[], projects: string[], rootRole: number|null}} group
 * @param {(group: Object) => void} deleted called after it
 */
export function openGroupDeletion(group, deleted) {
  const { id, name } = group;
  const dialog = openDialog(['Delete group ', text(name), '?'], () => [
    html`<p>${whatEnds(group)} This cannot be undone.</p>`,
    form({
      submit: 'Delete group', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
      async send() {
        await call('DELETE', groupPath(id)).catch((error) => {
          if (error.status !== 404) throw error; // it is gone already
        });
        dialog.close();
        await deleted(group);
      },
    }),
  ]);
}

/** Says who loses which roles. People who are members by the issuer are not counted. */
function whatEnds({ userCount, mappingsSSO, projects, rootRole }) {
  const isByIssuer = mappingsSSO.length > 0;
  if (userCount === 0 && !isByIssuer) return 'It has no members.';
  if (projects.length === 0 && rootRole === null) return 'It has no roles, so nobody loses any.';
  const members = userCount === 0 ? 'members by the issuer' : `${counted(userCount, 'member')}${isByIssuer ? ' and those by the issuer' : ''}`;
  return `With the next request, its ${members} ${userCount === 1 && !isByIssuer ? 'loses' : 'lose'} the roles of the group${
    projects.length > 0 ? ` in ${counted(projects.length, 'project')}` : ''}.`;
}
