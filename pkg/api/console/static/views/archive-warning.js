// The warning before toggles are archived that are on in production, or that applications still use.

import { call } from '../api.js';
import { FieldError } from '../dialog.js';
import { counted, text } from '../dom.js';
import { isProduction } from '../environment.js';
import { element, html, live, nothing, render } from '../template.js';
import { timeOfUse } from '../toggle.js';
import { firstDay, isUsedSince, unusedDays, usagePath } from '../usage-counts.js';

const shown = 10; // toggles with a line each
const most = 100; // toggles whose applications are loaded
const atOnce = 6; // requests
const mostHours = 2160; // the usage that is kept
const shownNames = 5; // applications in a line

/** The names of the environments of the type production in which a toggle is on. */
const whereLive = ({ environments }) => environments.filter((environment) => environment.enabled && isProduction(environment)).map(({ name }) => name);

/**
 * Warns about toggles that are on in production, and about those that applications have used in some days, with the applications.
 * @param {AbortSignal} signal ends it
 * @returns {{element: HTMLElement, check: () => void}|null} the warning, part of a form, and a function that throws an error unless the user
 *   has confirmed it; null if there is nothing to warn about
 */
export function archiveWarning(toggles, days = unusedDays, signal = undefined) {
  const since = firstDay(days, Date.now());
  const inProduction = toggles.filter((toggle) => whereLive(toggle).length > 0);
  const used = toggles.filter((toggle) => isUsedSince(toggle, since)).sort((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1));
  if (inProduction.length + used.length === 0) return null;
  const one = toggles.length === 1;
  const why = [inProduction.length > 0 && 'on in production', used.length > 0 && 'still used'].filter(Boolean).join(' and ');
  const state = { applications: null, isConfirmed: false }; // applications by toggle, null until they are loaded
  const place = element(html`<div></div>`);
  draw();
  if (used.length > 0) loadApplications();
  return { element: place, check };

  function draw() {
    render(html`<div class="notice warn">
      ${inProduction.length > 0 ? liveToggles(inProduction, one) : nothing}
      ${used.length > 0 ? usedToggles() : nothing}
      <div class="field"><div class="check"><input type="checkbox" name="confirmed" id="confirmed" ?disabled=${isLoading()}
          .checked=${live(state.isConfirmed)} @change=${({ target }) => { state.isConfirmed = target.checked; }}>
        <label for="confirmed">${`Archive ${one ? 'it although it is' : 'them although they are'} ${why}`}</label></div></div></div>`, place);
  }

  function isLoading() {
    return used.length > 0 && state.applications === null;
  }

  function check() {
    if (!state.isConfirmed) throw new FieldError('confirmed', isLoading() ? 'Wait until the applications are loaded.' : `Confirm that it is ${why}.`);
  }

  function usedToggles() {
    const of = (toggle) => byWhom(state.applications?.get(toggle) ?? []);
    const others = used.slice(shown, most).map((toggle) => state.applications?.get(toggle)).filter(Array.isArray).flat();
    return html`<p><strong>${one ? 'Applications still use it.' : `Applications still use ${counted(used.length, 'toggle')} of these.`}</strong>
        When it is archived, a toggle is off for them.</p>
      <ul class="failures">${used.slice(0, shown).map((toggle) => html`<li>${text(toggle.name)}: last used ${timeOfUse(toggle.lastSeenAt)}${of(toggle)}</li>`)}
        ${used.length > shown ? html`<li>${more(used)}${byWhom([...new Set(others)].sort())}</li>` : nothing}</ul>`;
  }

  async function loadApplications() {
    const found = new Map();
    const waiting = used.slice(0, most);
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (waiting.length > 0) {
        const toggle = waiting.shift();
        found.set(toggle, await applicationsOf(toggle, days, signal).catch((error) => error));
      }
    }));
    if (signal.aborted) return;
    state.applications = found;
    draw();
  }
}

const more = (toggles) => `and ${(toggles.length - shown).toLocaleString('en')} more`;

/** Says that toggles are on in production. The sheet names the environments. */
function liveToggles(all, one) {
  if (one) return html`<p><strong>It is on in production.</strong></p>`;
  return html`<p><strong>${counted(all.length, 'toggle')} of these ${all.length === 1 ? 'is' : 'are'} on in production.</strong></p>`;
}

function byWhom(applications) {
  if (applications instanceof Error) return `. The applications cannot be loaded: ${applications.message}`;
  if (applications.length === 0) return nothing;
  const names = applications.length > shownNames + 1 ? applications.slice(0, shownNames) : applications;
  const others = applications.length - names.length;
  return html`, by ${names.map((name, i) => html`${i > 0 ? ', ' : nothing}${text(name)}`)}${others > 0 ? ` and ${others.toLocaleString('en')} more` : nothing}`;
}

/** The applications that used a toggle in the last 24 hours, or else in the days. */
async function applicationsOf(toggle, days, signal) {
  const { seenApplications } = await call('GET', usagePath(toggle), undefined, { signal });
  if (seenApplications.length > 0) return seenApplications;
  const { data } = await call('GET', `${usagePath(toggle)}/raw?hoursBack=${Math.min(mostHours, 24 * (days + 1))}`, undefined, { signal });
  return [...new Set(data.map(({ appName }) => appName))].sort();
}
