// The protection of the environments of a project: whether changes need a change request, and when nothing changes.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { counted, loading, text } from '../dom.js';
import { environmentName, loadEnvironments } from '../environment.js';
import { projectPath } from '../project.js';
import { configPath, forgetProtections, loadConfig, loadProtections } from '../protection.js';
import { changedSince } from '../restore.js';
import { denseTable } from '../table.js';
import { element, html, nothing } from '../template.js';
import { freezeWords, openFreeze, openThaw } from './freeze-dialog.js';

const permission = 'PROJECT_CHANGE_REQUEST_WRITE';
const mostApprovals = 10;

/** @param {Object} part the context of the page, and its `id` and `draw` */
export function projectProtection({ id, draw, ...context }) {
  const { may, signal, announce } = context;
  let protections = null;
  let environments = [];
  return { load, template };

  async function load() {
    [protections, environments] = await Promise.all([loadProtections(id, signal), loadEnvironments(signal)]);
  }

  async function reload() {
    forgetProtections();
    try {
      await load();
    } catch (error) {
      if (!signal.aborted) announce(error.message);
    }
    draw();
  }

  function template() {
    if (!protections) return loading('the approvals');
    return html`<p class="lead">Where changes need approvals, each change of what applications get needs a change request, which other people approve.
        In a frozen environment, toggles can only be turned off, if the project allows it.</p>
      <section class="results" aria-label="Environments">${denseTable({
        caption: 'Environments',
        kind: 'few',
        columns: [
          { name: 'Environment', cell: ({ environment: name, type, freezes = [] }) => html`${environmentName({ name, type })}${freezes.map(freezeWords)}` },
          { name: 'Changes need', kind: 'one-line', cell: ({ changeRequestEnabled, requiredApprovals }) => (changeRequestEnabled
            ? counted(requiredApprovals, 'approval') : html`<span class="detail">No approval</span>`) },
          { name: 'Turning off', kind: 'one-line', cell: ({ allowTurningOff, changeRequestEnabled, freezes }) => (!changeRequestEnabled && !freezes ? html`<span class="detail">–</span>`
            : allowTurningOff ? 'Always allowed' : 'As other changes') },
        ],
        items: protections,
        key: ({ environment }) => environment,
        ...may(permission, id) && { actions: (one) => ({ name: one.environment, items: actions(one) }) },
      })}</section>`;
  }

  function actions(protection) {
    const { environment, type, freezes = [] } = protection;
    const freeze = freezes.find(({ allProjects }) => !allProjects);
    const of = {
      path: `${projectPath(id)}/environments/${encodeURIComponent(environment)}/freeze`, name: html`${environmentName({ name: environment, type })} of ${text(id)}`,
      said: `${environment} of ${id}`, freeze,
    };
    return [
      { label: 'Change the approvals', action: () => openProtection(protection) },
      { label: freeze ? 'Change the freeze' : 'Freeze', action: () => openFreeze(of, context, reload) },
      ...freeze ? [{ label: 'End the freeze', action: () => openThaw({ ...of, freeze }, context, reload) }] : [],
    ];
  }

  /** Asks how an environment is protected. */
  function openProtection({ environment, changeRequestEnabled, requiredApprovals, allowTurningOff }) {
    const least = environments.find(({ name }) => name === environment)?.requiredApprovals ?? 0;
    const enabled = element(html`<input type="checkbox" name="changeRequestsEnabled" id="enabled" ?checked=${changeRequestEnabled} ?disabled=${least > 0}>`);
    const approvals = element(html`<input name="requiredApprovals" inputmode="numeric" autocomplete="off" value=${requiredApprovals ?? 1}>`);
    const off = element(html`<input type="checkbox" name="allowTurningOff" id="off" ?checked=${allowTurningOff}>`);
    const dialog = openDialog(['Approvals of changes in ', text(environment), ' of ', text(id)], () => [
      form({ submit: 'Save', busy: 'Saving…', cancel: () => dialog.close(), send },
        html`<div class="field"><div class="check">${enabled}<label for="enabled">Changes need a change request</label></div>
          ${least > 0 ? html`<p class="hint">The environment requires ${counted(least, 'approval')} in each project.</p>` : nothing}</div>`,
        field('Approvals', approvals, `A whole number from ${Math.max(1, least)} to ${mostApprovals}.`),
        html`<div class="field"><div class="check">${off}<label for="off">Toggles can be turned off without a change request, and during a freeze</label></div></div>`),
    ]);
    enabled.addEventListener('change', show);
    show();

    function show() {
      approvals.disabled = !enabled.checked;
    }

    async function send() {
      const number = approvals.value.trim();
      if (enabled.checked && (!/^\d+$/.test(number) || Number(number) < Math.max(1, least) || Number(number) > mostApprovals)) {
        throw new FieldError('requiredApprovals', `Enter a whole number from ${Math.max(1, least)} to ${mostApprovals}.`);
      }
      const before = await loadConfig(id, environment, signal);
      const made = { changeRequestsEnabled: enabled.checked, requiredApprovals: enabled.checked ? Number(number) : null, allowTurningOff: off.checked };
      await call('PUT', configPath(id, environment), made);
      dialog.close();
      announce(enabled.checked ? `Changes in ${environment} need a change request.` : `Changes in ${environment} need no change request.`, async () => {
        const now = await loadConfig(id, environment);
        if (Object.keys(made).some((name) => now[name] !== made[name])) throw changedSince();
        await call('PUT', configPath(id, environment), before);
        await reload();
        return `The approvals of changes in ${environment} are as they were.`;
      });
      await reload();
    }
  }
}
