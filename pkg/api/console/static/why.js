// Controls that the caller may not use: in their place is one that says why, with the answer of views/explanation.js.

import { html } from './template.js';

/**
 * What an action needs. `to` says what the action does, such as "create toggles". In a protected environment of `places`, who does not have the
 * permission can ask for it.
 * @typedef {{permission: string, project?: string, environment?: string, to: string, places?: Array<{project: string, environment: {name: string}}>}} Need
 */

/**
 * What a page's context has for the answer.
 * @typedef {{may: (permission: string, project?: string, environment?: string) => boolean, asks: (places: Need['places']) => boolean, announce: (message: string) => void}} Context
 */

/**
 * Returns a control or, if the caller may not use it, one with the same label that says why.
 * @param {Need} need
 * @param {Context} context of the page
 * @param {unknown} label
 * @param {unknown} control
 */
export const allowed = (need, context, label, control) => (
  context.may(need.permission, need.project, need.environment) ? control : locked(need, context, label));

/**
 * How the caller can do something: 'make' the change, or 'ask' for it. '' if neither.
 * @param {Need} need
 * @param {Context} context of the page
 */
export const wayOf = ({ permission, project, environment, places = [] }, { may, asks }) => (may(permission, project, environment) ? 'make' : asks(places) ? 'ask' : '');

/** The label of what the caller can do in some way. */
export const labelFor = (way, label) => (way === 'ask' ? html`Ask for: ${label}` : label);

/**
 * Returns a control with a label that says if the caller asks for the change or, if the caller may not even ask, one that says why.
 * @param {Need} need
 * @param {Context} context of the page
 * @param {unknown} label
 * @param {(label: unknown) => unknown} control
 */
export function offered(need, context, label, control) {
  const way = wayOf(need, context);
  return way === '' ? locked(need, context, label) : control(labelFor(way, label));
}

/** A control that the caller may not use, and that says why. */
export const locked = (need, context, label) => html`<button type="button" class="locked" aria-haspopup="dialog" title="Why can't I?"
  @click=${() => explain(need, context)}>${padlock}${label}</button>`;

/** An item of a menu that the caller may not use here, and that says why, for those who may use it elsewhere. */
export const lockedItem = (need, context, label) => ({ label: html`${padlock}${label} <small>Why can't I?</small>`, action: () => explain(need, context) });

/** A switch that the caller may not use. */
export const lockedSwitch = (need, context, label, on) => html`<button type="button" class="switch locked ${on ? 'is-on' : ''}" aria-haspopup="dialog"
  title="Why can't I?" aria-label="${label} is ${on ? 'on' : 'off'}: why can't I change it?" @click=${() => explain(need, context)}><span aria-hidden="true"></span></button>
  <span class="detail" aria-hidden="true">${on ? 'on' : 'off'}</span>`;

const padlock = html`<svg class="padlock" viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="M5 7V5a3 3 0 0 1 6 0v2M3.5 7h9v6.5h-9z"></path></svg>`;

/** @param {Need} need @param {Context} context */
async function explain(need, context) {
  const { openExplanation } = await import('./views/explanation.js'); // the first view does not need it
  openExplanation(need, context);
}
