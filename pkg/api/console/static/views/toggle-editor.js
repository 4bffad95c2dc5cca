// The dialog that creates a toggle, or changes one.

import { call } from '../api.js';
import { combobox } from '../combobox.js';
import { mergeForm, save } from '../conflict.js';
import { FieldError, checkName, field, form, openDialog } from '../dialog.js';
import { counted, text, uniqueId } from '../dom.js';
import { draftFor, keepControls, writer } from '../draft.js';
import { learnOwners, ownerInput, ownerOf } from '../owner.js';
import { accountName } from '../person.js';
import { knownProjects, projectChoices, projectPath } from '../project.js';
import { element, html, nothing, render } from '../template.js';
import { changedToggles, newestChange, toggleAddress, togglePath } from '../toggle.js';

const labels = { description: 'Description', type: 'Type', impressionData: 'Impression data', stale: 'To be removed' };

/**
 * @param {{content: Object, etag: string}|null} current the toggle to change, null to create one
 * @param {Array} types the toggle types
 * @param {Object} context of the page
 * @param {string} [project] where a new toggle is created unless the user chooses another project
 * @param {string} [proposed] what it is called unless the user enters another name
 */
export function openToggleEditor(current, types, { announce, signal, user, may, projectsFor }, project, proposed) {
  const mayCreateIn = (id) => may('CREATE_FEATURE', id);
  let toggle = current?.content;
  const controls = {
    ...!current && {
      name: element(html`<input name="name" value=${proposed ?? ''} autocomplete="off" spellcheck="false" required>`),
      project: element(html`<input name="projectId" required value=${[project, 'default', ...projectsFor('CREATE_FEATURE') ?? []].find((id) => id && mayCreateIn(id)) ?? ''}
        @input=${showNaming} @change=${showNaming}>`),
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
  const initialOwner = user ? `user:${user.id}` : '';
  if (user) learnOwners([{ owner: { kind: 'user', id: user.id, name: accountName(user) } }]);
  const owner = current ? null : ownerInput({ user, value: initialOwner });
  const changes = element(html`<div></div>`);
  const naming = element(html`<p class="hint" role="status"></p>`);
  let named = ''; // the project whose names the hint is about
  const projects = async () => (await knownProjects().catch(() => [])).filter(({ id }) => mayCreateIn(id)); // the input works without choices
  const box = controls.project && combobox(controls.project, { choices: async (entered) => projectChoices(await projects(), entered), free: true });

  const dialog = openDialog(current ? ['Edit toggle ', text(toggle.name)] : 'Create a toggle', () => [
    form({
      submit: current ? 'Save' : 'Create toggle', busy: current ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send,
    },
    changes,
    controls.name ? field('Name', controls.name, 'Up to 100 letters, digits and . _ ~ -. The name cannot be changed later.') : nothing,
    controls.project ? field('Project', controls.project, 'It decides who may change the toggle.', element(html`<div>${box.element}${naming}</div>`)) : nothing,
    field('Type', controls.type),
    owner ? field('Owner', owner.input, 'A person, a group, or another text such as the name of a team.', owner.element) : nothing,
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
  if (controls.project) showNaming();

  /** Enters a value of the toggle that someone else has saved. */
  function enter(property, value) {
    writer(controls)(property, value);
    if (property !== 'description') return;
    original = value;
    shown = controls.description.value;
  }

  /** Says how the toggles of the project are named. */
  async function showNaming() {
    const id = controls.project.value.trim();
    if (id === named) return;
    named = id;
    naming.textContent = '';
    if (!(await projects()).some((one) => one.id === id)) return;
    const { featureNaming } = await call('GET', `${projectPath(id)}/overview`, undefined, { signal }).catch(() => ({ featureNaming: null }));
    if (featureNaming && id === named) naming.textContent = `Names match ${featureNaming.pattern}${featureNaming.example ? `, such as ${featureNaming.example}` : ''}.`;
  }

  /** Throws an error unless the user may create toggles in a project. */
  async function checkProject(id) {
    if (id === '') throw new FieldError('projectId', 'Enter a project, such as default.');
    const all = await projects();
    if (all.length > 0 && !all.some((one) => one.id === id)) throw new FieldError('projectId', `There is no project “${id}” in which you may create toggles.`);
  }

  async function send() {
    const description = controls.description.value;
    const where = controls.project?.value.trim();
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
      await checkProject(where);
      result = await call('POST', `/api/admin/projects/${encodeURIComponent(where)}/features`, { name, ...body, ...owner.value() !== initialOwner && { owner: ownerOf(owner.value()) } });
    }
    draft.done();
    announce(current ? `Toggle ${result.name} saved.` : `Toggle ${result.name} created.`);
    changedToggles();
    if (!current) window.location.hash = toggleAddress(result);
  }
}

/** Reports whether a draft of this toggle is being continued. */
export const continuesEditing = (name) => draftFor('edit-toggle') === name;
