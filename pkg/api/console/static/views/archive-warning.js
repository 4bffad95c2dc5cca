// The warning before toggles are archived that are on in production, or that applications still ask for.

import { call } from '../api.js';
import { FieldError, append, counted, h, replace, text, uniqueId } from '../dom.js';
import { isProduction } from '../environment.js';
import { timeOfUse } from '../toggle.js';
import { firstDay, isUsedSince, usagePath } from '../usage.js';

const shown = 10; // toggles with a line each
const most = 100; // toggles whose applications are loaded
const atOnce = 6; // requests
const mostHours = 2160; // the usage that is kept
const shownNames = 5; // applications in a line

/** The names of the environments of the type production in which a toggle is on. */
const whereLive = ({ environments }) => environments.filter((environment) => environment.enabled && isProduction(environment)).map(({ name }) => name);

/**
 * Warns about toggles that are on in production, and about those that applications have asked for in some days, with the applications.
 * @param {AbortSignal} signal ends it
 * @returns {{element: HTMLElement, check: () => void}|null} the warning, part of a form, and a function that throws an error unless the user
 *   has confirmed it; null if there is nothing to warn about
 */
export function archiveWarning(toggles, days, signal) {
  const since = firstDay(days, Date.now());
  const live = toggles.filter((toggle) => whereLive(toggle).length > 0);
  const used = toggles.filter((toggle) => isUsedSince(toggle, since)).sort((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1));
  if (live.length + used.length === 0) return null;
  const one = toggles.length === 1;
  const why = [live.length > 0 && 'on in production', used.length > 0 && 'still used'].filter(Boolean).join(' and ');
  const box = h('input', { type: 'checkbox', name: 'confirmed', id: uniqueId(), disabled: used.length > 0 });
  const element = h('div', { class: 'notice warn' },
    live.length > 0 && liveToggles(live, one),
    used.length > 0 && usedToggles(),
    h('div', { class: 'field' }, h('div', { class: 'check' }, box, h('label', { for: box.id }, `Archive ${one ? 'it although it is' : 'them although they are'} ${why}`))));
  return { element, check };

  function check() {
    if (!box.checked) throw new FieldError('confirmed', box.disabled ? 'Wait until the applications are loaded.' : `Confirm that it is ${why}.`);
  }

  function usedToggles() {
    const list = h('ul', { class: 'failures' });
    const lines = used.slice(0, shown).map((toggle) => h('li', null, text(toggle.name), `: last used ${timeOfUse(toggle.lastSeenAt)}`));
    const rest = used.length > shown ? h('li', null, more(used)) : null;
    replace(list, lines, rest);
    loadApplications(lines, rest);
    return [
      h('p', null, h('strong', null, one ? 'Applications still ask for it.' : `Applications still ask for ${counted(used.length, 'toggle')} of these.`),
        ' When it is archived, a toggle is off for them.'),
      list,
    ];
  }

  async function loadApplications(lines, rest) {
    const found = new Map(); // applications by toggle
    const waiting = used.slice(0, most);
    await Promise.all(Array.from({ length: atOnce }, async () => {
      while (waiting.length > 0) {
        const toggle = waiting.shift();
        found.set(toggle, await applicationsOf(toggle, days, signal).catch((error) => error));
      }
    }));
    if (signal.aborted) return;
    lines.forEach((line, i) => append(line, byWhom(found.get(used[i]))));
    const others = used.slice(shown, most).map((toggle) => found.get(toggle)).filter(Array.isArray).flat();
    if (rest && others.length > 0) append(rest, byWhom([...new Set(others)].sort()));
    box.disabled = false;
  }
}

const more = (toggles) => `and ${(toggles.length - shown).toLocaleString('en')} more`;

/** Names the toggles that are on in production, with the environments. */
function liveToggles(live, one) {
  const environments = (toggle) => whereLive(toggle).flatMap((name, i) => [i > 0 && ', ', text(name)]);
  if (one) return h('p', null, h('strong', null, 'It is on in ', environments(live[0]), '.'), ' When it is archived, it is off for everyone.');
  return [
    h('p', null, h('strong', null, `${counted(live.length, 'toggle')} of these ${live.length === 1 ? 'is' : 'are'} on in production.`),
      ` When ${live.length === 1 ? 'it is' : 'they are'} archived, ${live.length === 1 ? 'it is' : 'they are'} off for everyone.`),
    h('ul', { class: 'failures' }, live.slice(0, shown).map((toggle) => h('li', null, text(toggle.name), ': on in ', environments(toggle))),
      live.length > shown && h('li', null, more(live))),
  ];
}

function byWhom(applications) {
  if (applications instanceof Error) return `. The applications cannot be loaded: ${applications.message}`;
  if (applications.length === 0) return '';
  const names = applications.length > shownNames + 1 ? applications.slice(0, shownNames) : applications;
  const others = applications.length - names.length;
  return [', by ', names.flatMap((name, i) => [i > 0 && ', ', text(name)]), others > 0 && ` and ${others.toLocaleString('en')} more`];
}

/** The applications that asked for a toggle in the last 24 hours, or else in the days. */
async function applicationsOf(toggle, days, signal) {
  const { seenApplications } = await call('GET', usagePath(toggle), undefined, { signal });
  if (seenApplications.length > 0) return seenApplications;
  const { data } = await call('GET', `${usagePath(toggle)}/raw?hoursBack=${Math.min(mostHours, 24 * (days + 1))}`, undefined, { signal });
  return [...new Set(data.map(({ appName }) => appName))].sort();
}
