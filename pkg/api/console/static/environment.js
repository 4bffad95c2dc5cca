// Environments in all views: their paths, their mark, and the switch of a toggle in one of them.

import { call } from './api.js';
import { html, nothing } from './template.js';
import { togglePath } from './toggle.js';
import { lockedSwitch, wayOf } from './why.js';

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
  { permission: 'UPDATE_FEATURE_ENVIRONMENT', project, environment: name, places: [{ project, environment: { name } }], to: `turn ${toggle} on and off in ${name}` });

/**
 * The switch of a toggle in an environment or, if the caller may not use it, one that says why.
 * @param {{project: string, name: string}} toggle
 * @param {{name: string}} environment
 * @param {import('./why.js').Context} context of the page
 * @param {{on: boolean, busy: boolean, change: () => void}} options of `toggleSwitch`
 */
export function offeredSwitch(toggle, environment, context, options) {
  const need = switchNeed(toggle, environment);
  const label = `${toggle.name} in ${environment.name}`;
  const way = wayOf(need, context);
  return way === '' ? lockedSwitch(need, context, label, options.on) : toggleSwitch({ ...options, label, asks: way === 'ask' });
}

/**
 * A switch. It shows the state that the API has confirmed, and that it waits for the API. With `asks`, the caller asks for the change.
 * @param {{label: string, on: boolean, asks?: boolean, busy?: boolean, disabled?: boolean, change: () => void}} options
 */
export const toggleSwitch = ({ label, on, asks = false, busy, disabled = false, change }) => html`
  <button type="button" role="switch" class="switch" aria-label=${asks ? `Ask for: ${label}` : label} title=${asks ? 'Ask for it' : nothing} aria-checked=${on ? 'true' : 'false'} aria-busy=${busy ? 'true' : nothing}
    aria-disabled=${busy || disabled ? 'true' : nothing} @click=${() => busy || disabled || change()}><span aria-hidden="true"></span></button>
  <span class="detail" aria-hidden="true">${busy ? '…' : on ? 'on' : 'off'}${asks ? ' · Ask for it' : nothing}</span>`;
