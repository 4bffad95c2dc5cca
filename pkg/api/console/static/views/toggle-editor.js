// The dialog that creates a toggle, or changes one.

import { call } from '../api.js';
import { combobox, matching } from '../combobox.js';
import { FieldError, checkName, field, form, openDialog } from '../dialog.js';
import { counted, text, uniqueId } from '../dom.js';
import { draftFor, keepControls, mergeForm, save, writer } from '../draft.js';
import { element, html, nothing, render } from '../template.js';
import { changedToggles, countToggles, newestChange, toggleAddress, togglePath } from '../toggle.js';

const labels = { description: 'Description', type: 'Type', impressionData: 'Impression data', stale: 'To be removed' };

/**
 * @param {{content: Object, etag: string}|null} current the toggle to change, null to create one
 * @param {Array} types the toggle types
 * @param {Object} context of the page
 * @param {string} [project] where a new toggle is created unless the user chooses another project
 * @param {string} [proposed] what it is called unless the user enters another name
 */
export function openToggleEditor(current, types, { announce, signal }, project, proposed) {
  let toggle = current?.content;
  const controls = {
    ...!current && {
      name: element(html`<input name="name" value=${proposed ?? ''} autocomplete="off" spellcheck="false" required>`),
      project: element(html`<input name="projectId" required value=${project || 'default'} @input=${checkProject} @change=${checkProject}>`),
    },
    type: element(html`<select name="type">${types.map(({ id, name: typeName, lifetimeDays }) => html`
      <option value=${id}>${typeName} (${lifetimeDays === null ? 'never overdue' : `overdue after ${counted(lifetimeDays, 'day')}`})</option>`)}${
      toggle && !types.some(({ id }) => id === toggle.type) ? html`<option value=${toggle.type}>${toggle.type}</option>` : nothing}</select>`),
    description: element(html`<textarea name="description" rows="3" maxlength="1000" dir="auto"></textarea>`),
    impressionData: element(html`<input name="impressionData" type="checkbox" id=${uniqueId()}>`),
  };
  controls.type.value = toggle?.type ?? 'release';
  controls.description.value = toggle?.description ?? '';
  controls.impressionData.checked = toggle?.impressionData ?? false;
  let original = toggle?.description ?? null;
  let shown = controls.description.value; // a text area changes line breaks
  const changes = element(html`<div></div>`);
  const isNew = element(html`<p class="hint" role="status"></p>`);
  let projects = [];
  const box = controls.project && combobox(controls.project, { choices: (entered) => matching(projects, entered), free: true });
  if (box) {
    countToggles(null, signal).then((counts) => {
      projects = [...counts.projects].map(([id, numbers]) => ({ value: id, label: id, detail: counted(numbers[''], 'toggle') }));
    }).catch(() => {}); // the input works without choices
  }

  const dialog = openDialog(current ? ['Edit toggle ', text(toggle.name)] : 'Create a toggle', () => [
    form({
      submit: current ? 'Save' : 'Create toggle', busy: current ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send,
    },
    changes,
    controls.name ? field('Name', controls.name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.') : nothing,
    controls.project ? field('Project', controls.project, 'A label that groups toggles.', element(html`<div>${box.element}${isNew}</div>`)) : nothing,
    field('Type', controls.type),
    field('Description', controls.description, 'What it is for, and when it can be removed.'),
    html`<div class="field"><div class="check">${controls.impressionData}
      <label for=${controls.impressionData.id}>Applications report impressions</label></div></div>`),
  ], undefined, () => draft.leave());
  const draft = keepControls(dialog, controls, {
    kind: current ? 'edit-toggle' : 'create-toggle',
    about: current ? toggle.name : proposed ?? null,
    title: current ? `changes of the toggle ${toggle.name}` : 'a new toggle',
  });
  (controls.name ?? controls.description).focus();

  /** Enters a value of the toggle that someone else has saved. */
  function enter(property, value) {
    writer(controls)(property, value);
    if (property !== 'description') return;
    original = value;
    shown = controls.description.value;
  }

  /** Says that a project does not exist yet: it may be a typing error. */
  function checkProject() {
    const id = controls.project.value.trim();
    isNew.textContent = id === '' || projects.length === 0 || projects.some(({ value }) => value === id) ? '' : `Creates the project ${id}.`;
  }

  async function send() {
    const description = controls.description.value;
    const where = controls.project?.value;
    const body = {
      type: controls.type.value,
      impressionData: controls.impressionData.checked,
      description: description === shown ? original : description || null,
    };
    let result;
    if (current) {
      const answer = await save(togglePath(toggle), body, current, labels);
      if (answer.now) {
        const change = await newestChange(toggle).catch(() => undefined);
        render(mergeForm({
          before: toggle, mine: body, theirs: answer.now.content, labels, by: change?.createdBy, write: enter,
          say: (property, value) => (property === 'type' ? types.find(({ id }) => id === value)?.name : undefined),
        }), changes);
        current = answer.now;
        toggle = current.content;
        return;
      }
      ({ result } = answer);
    } else {
      const name = controls.name.value.trim();
      checkName(name);
      if (where.trim() === '') throw new FieldError('projectId', 'Enter a project, such as default.');
      result = await call('POST', `/api/admin/projects/${encodeURIComponent(where)}/features`, { name, ...body });
    }
    draft.done();
    announce(current ? `Toggle ${result.name} saved.` : `Toggle ${result.name} created.`);
    changedToggles();
    if (!current) window.location.hash = toggleAddress(result);
  }
}

/** Reports whether a draft of this toggle is being continued. */
export const continuesEditing = (name) => draftFor('edit-toggle') === name;
