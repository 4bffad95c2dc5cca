// The settings of a project: two forms, which the API saves separately.

import { call } from '../api.js';
import { counted } from '../dom.js';
import { editResource } from '../editor.js';
import { forgetProjects, modes, projectPath } from '../project.js';
import { html, live, nothing, repeat } from '../template.js';

const labels = { name: 'Name', description: 'Description', mode: 'Mode', defaultStickiness: 'Stickiness' };
const ruleLabels = { featureNaming: 'Names of toggles', linkTemplates: 'Links of toggles' };
const mostLinks = 20;

/** @param {Object} part the context of the page, and its `id`, `state`, `draw` and `reload` */
export function projectSettings({ id, state, draw, reload, signal, announce }) {
  let forms = null;
  let fields = []; // context fields that a rollout can be by
  return { load, template };

  async function load() {
    forms ??= [generalForm(), rulesForm()];
    fields = (await call('GET', '/api/admin/context', undefined, { signal })).filter(({ stickiness }) => stickiness).map(({ name }) => name);
  }

  function begin(options) {
    return editResource({
      path: `${projectPath(id)}/overview`,
      opened: state.opened,
      draw,
      signal,
      async saved() {
        forgetProjects();
        forms = null;
        announce('Project saved.');
        await reload();
      },
      ...options,
    });
  }

  function template() {
    return forms ? forms.map((form) => form()) : nothing;
  }

  function generalForm() {
    const edit = begin({
      to: projectPath(id),
      draft: { kind: 'project-settings', title: `the settings of the project ${id}` },
      labels,
      toDraft: ({ name, description, mode, defaultStickiness }) => ({ name, description, mode, defaultStickiness }),
      toBody: ({ name, description, mode, defaultStickiness }) => ({ name, description: description || null, mode, defaultStickiness }),
      controlOf: (place) => (place in labels ? place : undefined),
    });
    return () => {
      const { values: { name, description, mode, defaultStickiness }, errors } = edit.state;
      const stickiness = [...new Set(['default', 'random', 'userId', 'sessionId', ...fields, defaultStickiness])];
      return html`<form class="settings" novalidate aria-label="Settings" @submit=${edit.submit}>
        <h2>Settings</h2>
        ${edit.conflict()}
        ${edit.input({ name: 'name', label: 'Name', value: name, change: (value) => edit.set({ name: value }) })}
        <div class="field"><label for="description">Description</label>
          <textarea id="description" rows="3" dir="auto" aria-invalid=${errors.description ? 'true' : nothing} .value=${live(description ?? '')}
            @input=${({ target }) => edit.set({ description: target.value })}></textarea>${edit.error('description')}</div>
        <fieldset class="field choices modes"><legend>Mode</legend>${Object.entries(modes).map(([value, { name: of, about }]) => html`<label class="check"><input
          type="radio" name="mode" value=${value} .checked=${live(value === mode)} @change=${() => edit.set({ mode: value })}>
          <span>${of} <span class="detail">${about}</span></span></label>`)}${edit.error('mode')}</fieldset>
        <div class="field"><label for="stickiness">Stickiness of new strategies</label>
          <select id="stickiness" @change=${({ target }) => edit.set({ defaultStickiness: target.value })}>${stickiness.map((value) => html`
            <option value=${value} .selected=${live(value === defaultStickiness)}>${value}</option>`)}</select>
          <p class="hint">The field for whose values a gradual rollout keeps its result. The editor of strategies proposes it.</p>${edit.error('defaultStickiness')}</div>
        ${edit.problem()}
        <div class="buttons">${edit.saveButton('Save settings')}</div>
      </form>`;
    };
  }

  function rulesForm() {
    const edit = begin({
      to: `${projectPath(id)}/settings`,
      draft: { kind: 'project-rules', title: `the names and links of toggles of the project ${id}` },
      labels: ruleLabels,
      toDraft: ({ featureNaming, linkTemplates }) => ({ featureNaming, linkTemplates }),
      toBody: ({ featureNaming, linkTemplates }) => ({
        featureNaming: featureNaming?.pattern ? {
          pattern: featureNaming.pattern, example: featureNaming.example || null, description: featureNaming.description || null } : null,
        linkTemplates: linkTemplates.map(({ title, urlTemplate }) => ({ title: title || null, urlTemplate })),
      }),
      controlOf: (place) => place,
    });
    return () => {
      const { values: { featureNaming, linkTemplates } } = edit.state;
      const naming = featureNaming ?? { pattern: '', example: '', description: '' };
      const rule = (name, label, hint) => edit.input({
        name: `featureNaming/${name}`, label, hint, value: naming[name] ?? '', change: (value) => edit.set({ featureNaming: { ...naming, [name]: value } }),
      });
      const setLinks = (next) => edit.set({ linkTemplates: next });
      const link = ({ title, urlTemplate }, i) => html`<div class="pair link-template">
        ${edit.input({ name: `linkTemplates/${i}/title`, label: `Text of link ${i + 1}`, value: title ?? '',
          change: (value) => setLinks(linkTemplates.with(i, { title: value, urlTemplate })) })}
        ${edit.input({ name: `linkTemplates/${i}/urlTemplate`, label: `Address of link ${i + 1}`, value: urlTemplate,
          change: (value) => setLinks(linkTemplates.with(i, { title, urlTemplate: value })) })}
        <button type="button" aria-label="Remove link ${i + 1}" @click=${() => setLinks(linkTemplates.toSpliced(i, 1))}>×</button></div>`;
      return html`<form class="settings" novalidate aria-label="Names and links" @submit=${edit.submit}>
        <h2>Names and links of toggles</h2>
        ${edit.conflict()}
        ${rule('pattern', 'Pattern', 'A regular expression that the whole name of a new or moved toggle must match. Empty: any name.')}
        ${rule('example', 'Example', 'A name that matches the pattern.')}
        ${rule('description', 'In words', 'What people read when a name does not match.')}
        ${edit.error('featureNaming')}
        <fieldset><legend>Links</legend><p class="detail">Each toggle of the project shows them. {{project}} and {{feature}} stand for the ids. ${
          linkTemplates.length === 0 ? 'There are none.' : counted(linkTemplates.length, 'link')}</p>
          ${repeat(linkTemplates, (item, i) => i, link)}
          ${linkTemplates.length < mostLinks ? html`<button type="button" @click=${() => setLinks([...linkTemplates, { title: '', urlTemplate: '' }])}>Add link</button>` : nothing}
        </fieldset>
        ${edit.problem()}
        <div class="buttons">${edit.saveButton('Save names and links')}</div>
      </form>`;
    };
  }
}
