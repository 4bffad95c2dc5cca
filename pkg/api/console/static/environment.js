// Environments in all views: their paths, their mark, and the switch of a toggle in one of them.

import { call } from './api.js';
import { html, nothing } from './template.js';
import { togglePath } from './toggle.js';

/** The path of a toggle in an environment. */
export const environmentPath = (toggle, environment) => `${togglePath(toggle)}/environments/${encodeURIComponent(environment)}`;

/** The address of the page of a toggle in an environment. */
export const environmentAddress = ({ project, name }, environment) => `#/toggles/${project}/${name}/${environment}`;

/** Loads the environments, in their order. */
export async function loadEnvironments(signal) {
  return (await call('GET', '/api/admin/environments', undefined, { signal })).environments;
}

/** The environment with a name, without its type if it is not among those that were loaded. */
export const namedEnvironment = (environments, name) => environments.find((one) => one.name === name) ?? { name, type: '' };

/** Reports whether an environment is one whose switches ask before they change. */
export const isProduction = ({ type }) => type === 'production';

/** The name of an environment. Production has a mark that is not only a color. */
export const environmentName = (environment) => html`<span class=${isProduction(environment) ? 'environment production' : 'environment'} title=${environment.name}>${
  isProduction(environment) ? html`<span aria-hidden="true">● </span>` : nothing}<bdi>${environment.name}</bdi></span>`;

/**
 * The places where a toggle is on, in which applications notice what changes of it.
 * @returns {import('./views/change-sheet.js').Place[]}
 */
export const livePlaces = ({ project, environments }) => environments.filter(({ enabled }) => enabled)
  .map(({ name, type }) => ({ project, environment: { name, type }, isLive: true }));

/**
 * What a switch needs of the caller, see why.js.
 * @param {{project: string, name: string}} toggle
 */
export const switchNeed = ({ project, name: toggle }, { name }) => (
  { permission: 'UPDATE_FEATURE_ENVIRONMENT', project, environment: name, to: `turn ${toggle} on and off in ${name}` });

/**
 * A switch. It shows the state that the API has confirmed, and that it waits for the API.
 * @param {{label: string, on: boolean, busy?: boolean, disabled?: boolean, change: () => void}} options
 */
export const toggleSwitch = ({ label, on, busy, disabled = false, change }) => html`
  <button type="button" role="switch" class="switch" aria-label=${label} aria-checked=${on ? 'true' : 'false'} aria-busy=${busy ? 'true' : nothing}
    aria-disabled=${busy || disabled ? 'true' : nothing} @click=${() => busy || disabled || change()}><span aria-hidden="true"></span></button>
  <span class="detail" aria-hidden="true">${busy ? '…' : on ? 'on' : 'off'}</span>`;
