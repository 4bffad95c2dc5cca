// The dialog that freezes an environment for a time, and what ends the freeze.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { text } from '../dom.js';
import { forgetProtections } from '../protection.js';
import { changedSince } from '../restore.js';
import { element, html } from '../template.js';
import { exactTime, inputTime, isUTC, ownZone, shortTime, timeOfInput } from '../time.js';

const day = 86_400_000;
const mostReason = 500; // characters

/** A freeze in words: when, and why. */
export const freezeWords = ({ from, until, reason, allProjects }) => html`<p class="freeze"><span aria-hidden="true">❄ </span>${
  Date.parse(from) > Date.now() ? html`Frozen${allProjects ? ' in all projects' : ''} from <time datetime=${from} title=${exactTime(from)}>${shortTime(from)}</time> until` : `Frozen${allProjects ? ' in all projects' : ''} until`} <time
  datetime=${until} title=${exactTime(until)}>${shortTime(until)}</time>: ${text(reason)}</p>`;

/**
 * Asks when nothing may change, and freezes an environment.
 * @param {{path: string, name: unknown, said: string, freeze?: import('../protection.js').Freeze}} of the path of the freeze, what is frozen,
 *   its name in a message, and the freeze that is replaced
 * @param {{announce: Function}} context of the page
 * @param {() => void} saved
 */
export function openFreeze({ path, name, said, freeze }, { announce }, saved) {
  const now = Date.now();
  const from = element(html`<input type="datetime-local" name="from" required value=${inputTime(freeze?.from ?? now)}>`);
  const until = element(html`<input type="datetime-local" name="until" required value=${inputTime(freeze?.until ?? now + day)}>`);
  const reason = element(html`<input name="reason" required maxlength=${mostReason} autocomplete="off" dir="auto" value=${freeze?.reason ?? ''}>`);
  const zone = `In the time zone ${isUTC() ? 'UTC' : ownZone}.`;
  const dialog = openDialog([freeze ? 'Change the freeze of ' : 'Freeze ', name], () => [
    html`<p>In this time, nothing that applications get there can be changed, and scheduled change requests wait for its end. Toggles can be turned off where the
      project allows it. People who may skip change requests can change everything.</p>`,
    form({ submit: freeze ? 'Save' : 'Freeze', busy: 'Saving…', cancel: () => dialog.close(), send },
      html`<div class="pair">${field('From', from, zone)}${field('Until', until)}</div>`,
      field('Reason', reason, 'Everyone who tries to change something sees it.')),
  ]);
  reason.focus();

  async function send() {
    for (const [control, message] of [[from, 'Enter a date and a time.'], [until, 'Enter a date and a time.'], [reason, 'Enter a reason.']]) {
      if (control.value.trim() === '') throw new FieldError(control.name, message);
    }
    const made = await write(path, { from: timeOfInput(from.value), until: timeOfInput(until.value), reason: reason.value.trim() });
    dialog.close();
    announce(Date.parse(made.from) > Date.now() ? `${said} will be frozen from ${shortTime(made.from)}.` : `${said} is frozen.`, async () => {
      await restoreFreeze(path, made, freeze);
      saved();
      return freeze ? 'The freeze is as it was.' : `${said} is not frozen any more.`;
    });
    saved();
  }
}

/**
 * Asks, and ends a freeze.
 * @param {{path: string, name: unknown, said: string, freeze: import('../protection.js').Freeze}} of see `openFreeze`
 * @param {{announce: Function}} context of the page
 * @param {() => void} ended
 */
export function openThaw({ path, name, said, freeze }, { announce }, ended) {
  const dialog = openDialog(['End the freeze of ', name, '?'], () => [
    html`<p>Then what applications get there can be changed again, and change requests whose time has come are applied.</p>`,
    form({
      submit: 'End the freeze', busy: 'Working…', cancel: () => dialog.close(),
      async send() {
        await write(path);
        dialog.close();
        announce(`${said} is not frozen any more.`, async () => {
          await restoreFreeze(path, null, freeze);
          ended();
          return `${said} is frozen again.`;
        });
        ended();
      },
    }),
  ]);
}

/** Sets a freeze, which it returns, or ends it. */
async function write(path, freeze, send = call) {
  const set = freeze ? await send('PUT', path, { from: freeze.from, until: freeze.until, reason: freeze.reason }) : await send('DELETE', path);
  forgetProtections();
  return freeze ? set : null;
}

/** Loads a freeze that has not ended, or null. */
export const loadFreeze = (path, signal) => call('GET', path, undefined, { signal }).catch((error) => {
  if (error.status !== 404) throw error;
  return null;
});

/** Reports whether two freezes are the same. */
export const isSameFreeze = (a, b) => ['from', 'until', 'reason'].every((name) => a?.[name] === b?.[name]);

/** Sets the freeze that was there before a change, if nobody has changed it since. One that has ended is not set. */
export async function restoreFreeze(path, made, before, send = call) {
  if (!isSameFreeze(await loadFreeze(path), made)) throw changedSince();
  const target = before && Date.parse(before.until) > Date.now() ? before : null;
  if (made || target) await write(path, target, send);
}
