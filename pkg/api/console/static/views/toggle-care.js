// Who owns toggles, and until when they are kept: what the page of a toggle shows, and the dialogs that change it for one toggle or many.

import { call } from '../api.js';
import { field, FieldError, form, openDialog } from '../dialog.js';
import { counted, text } from '../dom.js';
import { ownerInput, ownerOf, ownerText } from '../owner.js';
import { ownerNames, projectPath } from '../project.js';
import { element, html, nothing } from '../template.js';
import { shortDay } from '../time.js';
import { changedToggles, isKept } from '../toggle.js';
import { allowed } from '../why.js';

const most = 50; // toggles in one request
const day = 86_400_000;

/**
 * Who owns a toggle, and until when it is kept.
 * @param {Object} toggle
 * @param {Object|null} project its overview
 * @param {Object} context of the page
 */
export function toggleCare(toggle, project, context) {
  const button = (label, to, action) => allowed({ permission: 'UPDATE_FEATURE', project: toggle.project, to: `${to} ${toggle.name}` }, context, label,
    html`<button type="button" @click=${action}>${label}</button>`);
  return html`<div class="care">
    <span>Owner: ${ownerWords(toggle, project)}</span> ${button('Change owner', 'change the owner of', () => openOwner([toggle], context))}
    ${isKept(toggle) ? html`<span>${keptWords(toggle)}</span> ${button('Change date', 'change until when to keep', () => openKeep([toggle], context))}
      ${button('Do not keep', 'end keeping', () => endKeeping([toggle], context))}`
    : toggle.archived ? nothing : button('Keep until…', 'keep', () => openKeep([toggle], context))}
  </div>`;
}

/** Who owns a toggle: the Owners of its project, if it has no owner. */
function ownerWords({ owner }, project) {
  if (owner) return html`<strong><bdi>${owner.name}</bdi></strong>`;
  const names = project ? ownerNames(project.owners ?? []) : [];
  return names.length === 0 ? html`<span class="detail">nobody</span>` : html`<span class="detail">the Owners of the project, <bdi>${names.join(', ')}</bdi></span>`;
}

/** Until when a toggle is kept, and why. */
export const keptWords = ({ keepUntil, keepReason }) => html`Kept until <time datetime=${keepUntil}>${shortDay(keepUntil)}</time>${
  keepReason ? html`: <bdi>${keepReason}</bdi>` : nothing}`;

/** Changes toggles of any projects, a request for those of a project that change in the same way. */
async function changeAll(changes) {
  for (const group of Map.groupBy(changes, ({ toggle, body }) => JSON.stringify([toggle.project, body])).values()) {
    const [{ toggle: { project }, body }] = group;
    for (let i = 0; i < group.length; i += most) {
      await call('PUT', `${projectPath(project)}/features`, { features: group.slice(i, i + most).map(({ toggle }) => toggle.name), ...body });
    }
  }
}

/** Changes toggles in the same way, says so, and offers to undo it. `before` returns the properties that a toggle had. */
async function change(toggles, body, before, message, { announce }) {
  await changeAll(toggles.map((toggle) => ({ toggle, body })));
  announce(message, async () => {
    await changeAll(toggles.map((toggle) => ({ toggle, body: before(toggle) })));
    changedToggles();
    return 'Undone.';
  });
  changedToggles();
}

const named = (toggles) => (toggles.length === 1 ? toggles[0].name : counted(toggles.length, 'toggle'));
const sameOwner = (toggles) => new Set(toggles.map(({ owner }) => ownerText(owner))).size === 1;

/** Asks who owns toggles. */
export function openOwner(toggles, context) {
  const { user } = context;
  const [{ owner }] = toggles;
  const box = ownerInput({ user, value: owner && sameOwner(toggles) ? ownerText(owner) : '' });
  const dialog = openDialog(['Owner of ', text(named(toggles))], () => [
    form({
      submit: 'Save', busy: 'Saving…', cancel: () => dialog.close(),
      async send() {
        const next = ownerOf(box.value());
        await change(toggles, { owner: next }, (toggle) => ({ owner: toggle.owner }),
          next ? `${named(toggles)}: the owner is ${box.input.value.trim()}.` : `${named(toggles)}: nobody but the Owners of the project.`, context);
        dialog.close();
      },
    }, field('Owner', box.input, 'A person, a group, or another text such as the name of a team. Empty: the Owners of the project. It gives no permission.', box.element)),
  ]);
  box.input.focus();
}

const dayAfter = (days) => new Date(Date.now() + days * day).toISOString().slice(0, 10);

/** Asks until when to keep toggles. */
export function openKeep(toggles, context) {
  const [{ keepUntil, keepReason }] = toggles;
  const one = toggles.length === 1;
  const until = element(html`<input name="keepUntil" type="date" required min=${dayAfter(1)} value=${one && isKept(toggles[0]) ? keepUntil : dayAfter(90)}>`);
  const reason = element(html`<input name="keepReason" maxlength="255" dir="auto" value=${one ? keepReason ?? '' : ''}>`);
  const dialog = openDialog(['Keep ', text(named(toggles)), ' until a date'], () => [
    form({
      submit: 'Keep', busy: 'Saving…', cancel: () => dialog.close(),
      async send() {
        if (until.value === '') throw new FieldError('keepUntil', 'Enter a date.');
        if (until.value < dayAfter(1)) throw new FieldError('keepUntil', 'Enter a date after today.');
        await change(toggles, { keepUntil: until.value, keepReason: reason.value.trim() || null }, kept,
          `${named(toggles)}: kept until ${shortDay(until.value)}.`, context);
        dialog.close();
      },
    },
    html`<p>Until then ${one ? 'it is' : 'they are'} not overdue, and Clean-up does not propose ${one ? 'it' : 'them'}.</p>`,
    field('Until', until, 'The day, in UTC, on which Clean-up can propose it again.'),
    field('Why', reason, 'Clean-up shows it.')),
  ]);
  until.focus();
}

const kept = ({ keepUntil, keepReason }) => (keepUntil === null ? { keepUntil } : { keepUntil, keepReason });

/** Ends keeping toggles. */
export async function endKeeping(toggles, context) {
  try {
    await change(toggles, { keepUntil: null }, kept, `${named(toggles)}: no longer kept.`, context);
  } catch (error) {
    if (!context.signal.aborted) context.announce(`Nothing was changed. ${error.message}`);
  }
}

