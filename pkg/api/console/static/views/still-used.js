// The warning before toggles are archived that applications still ask for.

import { call } from '../api.js';
import { FieldError, append, counted, h, replace, text, uniqueId } from '../dom.js';
import { timeOfUse } from '../toggle.js';
import { firstDay, isUsedSince, usagePath } from '../usage.js';

const shown = 10; // toggles with a line each
const most = 100; // toggles whose applications are loaded
const atOnce = 6; // requests
const mostHours = 2160; // the usage that is kept

/**
 * Warns about toggles that applications have asked for in some days, and names the applications.
 * @param {AbortSignal} signal ends it
 * @returns {{element: HTMLElement, check: () => void}|null} the warning, part of a form, and a function that throws an error unless the user
 *   has confirmed it; null if the toggles are not used
 */
export function stillUsed(toggles, days, signal) {
  const since = firstDay(days, Date.now());
  const used = toggles.filter((toggle) => isUsedSince(toggle, since)).sort((a, b) => (a.lastSeenAt < b.lastSeenAt ? 1 : -1));
  if (used.length === 0) return null;
  const one = toggles.length === 1;
  const box = h('input', { type: 'checkbox', name: 'confirmed', id: uniqueId(), disabled: true });
  const list = h('ul', { class: 'failures' });
  const element = h('div', { class: 'notice warn' },
    h('p', null, h('strong', null, one ? 'Applications still ask for it.' : `Applications still ask for ${counted(used.length, 'toggle')} of these.`),
      ' When it is archived, a toggle is off for them.'),
    list,
    h('div', { class: 'field' }, h('div', { class: 'check' }, box,
      h('label', { for: box.id }, one ? 'Archive it although it is still used' : 'Archive them although they are still used'))));
  const lines = used.slice(0, shown).map((toggle) => h('li', null, text(toggle.name), `: last used ${timeOfUse(toggle.lastSeenAt)}`));
  const rest = used.length > shown ? h('li', null, `and ${(used.length - shown).toLocaleString('en')} more`) : null;
  replace(list, lines, rest);
  loadApplications();
  return { element, check };

  async function loadApplications() {
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

  function check() {
    if (!box.checked) throw new FieldError('confirmed', box.disabled ? 'Wait until the applications are loaded.' : 'Confirm that it is still used.');
  }
}

function byWhom(applications) {
  if (applications instanceof Error) return `. The applications cannot be loaded: ${applications.message}`;
  if (applications.length === 0) return '';
  return [', by ', applications.flatMap((name, i) => [i > 0 && ', ', text(name)])];
}

/** The applications that asked for a toggle in the last 24 hours, or else in the days. */
async function applicationsOf(toggle, days, signal) {
  const { seenApplications } = await call('GET', usagePath(toggle), undefined, { signal });
  if (seenApplications.length > 0) return seenApplications;
  const { data } = await call('GET', `${usagePath(toggle)}/raw?hoursBack=${Math.min(mostHours, 24 * (days + 1))}`, undefined, { signal });
  return [...new Set(data.map(({ appName }) => appName))].sort();
}
