// The environments of a project: those in which its toggles can be switched.

import { call } from '../api.js';
import { form, openDialog } from '../dialog.js';
import { focusOn, loading, text } from '../dom.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { projectPath } from '../project.js';
import { denseTable } from '../table.js';
import { html } from '../template.js';
import { listAddress } from '../toggle.js';

/** @param {Object} part the context of the page, and its `id`, `state`, `draw` and `reload` */
export function projectEnvironments({ id, state, draw, reload, may, signal, announce }) {
  let environments = null; // all of them
  let busy = false;
  const mayChange = may('UPDATE_PROJECT', id);
  return { load, template };

  async function load() {
    environments = await loadEnvironments(signal);
  }

  function template() {
    if (!environments) return loading('the environments');
    return html`<p class="lead">In these environments, the toggles of the project have a switch and strategies.</p>
      <section class="results" aria-label="Environments" aria-busy=${busy ? 'true' : 'false'}>${denseTable({
        caption: 'Environments',
        kind: 'few',
        columns: [
          { name: 'Name', cell: environmentName },
          { name: 'Type', kind: 'one-line', cell: ({ type }) => html`<bdi title=${type}>${type}</bdi>` },
          { name: 'In the project', cell: (environment) => (has(environment) ? 'Yes' : html`<span class="detail">No</span>`) },
          { name: 'Toggles on', cell: (environment) => (has(environment) ? html`<a href=${listAddress({ project: id, status: `${environment.name}:enabled` })}>Show<span
            class="visually-hidden"> the toggles that are on in <bdi>${environment.name}</bdi></span></a>` : html`<span class="detail">–</span>`) },
        ],
        items: environments,
        key: ({ name }) => name,
        ...mayChange && { actions: (environment) => ({
          name: environment.name,
          items: [has(environment) ? { label: 'Remove', danger: true, action: () => remove(environment) } : { label: 'Add', action: () => add(environment) }],
        }) },
      })}</section>`;
  }

  function has({ name }) {
    return state.opened.content.environments.some(({ environment }) => environment === name);
  }

  async function add({ name }) {
    busy = true;
    draw();
    try {
      await call('POST', `${projectPath(id)}/environments`, { environment: name });
      announce(`The project has the environment ${name}.`);
    } catch (error) {
      if (!signal.aborted) announce(`The environment was not added. ${error.message}`);
    }
    busy = false;
    await reload();
  }

  function remove({ name }) {
    const dialog = openDialog(['Remove ', text(name), ' from the project?'], () => [
      html`<p>The toggles of the project no longer have a switch there. No toggle of the project may be on there.</p>`,
      form({
        submit: 'Remove environment', busy: 'Removing…', danger: true, cancel: () => dialog.close(),
        async send() {
          await call('DELETE', `${projectPath(id)}/environments/${encodeURIComponent(name)}`);
          dialog.close();
          announce(`The project no longer has the environment ${name}.`);
          await reload();
          if (document.activeElement === document.body) focusOn('.tabs [aria-current]');
        },
      }),
    ]);
  }
}
