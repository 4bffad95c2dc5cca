// The sheet that every change of a live production environment goes through: what changes, who asks for it, and why. Where a change needs a
// change request, the sheet adds it to the caller's draft.

import { call } from '../api.js';
import { ask } from '../change-request.js';
import { field, form, openDialog, showIn } from '../dialog.js';
import { counted, text } from '../dom.js';
import { environmentName, isProduction } from '../environment.js';
import { currentFreeze, forgetProtections, knownProtections } from '../protection.js';
import { lastHours } from '../recent-use.js';
import { lineWords } from '../state-words.js';
import { element, html, nothing } from '../template.js';
import { exactTime } from '../time.js';

const shownItems = 10;
const mostUsed = 20; // toggles whose use is counted
const mostReason = 300; // characters

/**
 * An environment of a project in which an item changes something. Applications get the change if it `isLive`: the toggle is on there, before
 * or afterwards.
 * @typedef {{project: string, environment: {name: string, type: string}, isLive: boolean}} Place
 */

/**
 * What changes of one thing.
 * @typedef {Object} Item
 * @property {string} name
 * @property {Array<{project: string, name: string}>} toggles whose use the sheet shows
 * @property {Place[]} places
 * @property {string} permission that the change needs there
 * @property {boolean} [turnsOff] nothing but a toggle
 * @property {boolean} [isApproved] by a change request
 * @property {() => import('../state-words.js').Line[]|Promise<import('../state-words.js').Line[]>} [lines] what was, and what will be
 * @property {() => import('../change-request.js').AskedChange[]} [asked] the same in a change request; without it, no request can have it
 */

/**
 * @typedef {Object} Change
 * @property {unknown} title a question
 * @property {string} submit what the button does, such as "Turn on"
 * @property {boolean} [danger] for a red button
 * @property {Item[]} items
 * @property {unknown[]} [content] of the sheet, above what changes
 * @property {unknown[]} [controls] of its form
 * @property {() => void} [check] throws an error of a control
 * @property {{label: string, action: () => void}} [instead] what can be done if a change request is needed that cannot have the change
 * @property {boolean} [always] asks also if no production environment changes
 * @property {() => void} [opened] called when the sheet is shown
 * @property {boolean} [throws] errors of the API: the sheet closes, and the page shows them
 * @property {(made: Made) => Promise<boolean|void>} send makes the changes of some items, and says so. True: the dialog stays
 */

/**
 * What a change is made with: `write` is `call` of api.js, with the reason. Without a sheet, there is neither a `dialog` nor a signal.
 * @typedef {{write: typeof call, items: Item[], dialog?: HTMLDialogElement, signal?: AbortSignal, progress?: (text: string) => void}} Made
 */

/**
 * Makes a change. It asks before it changes a live production environment, and where a change request is needed.
 * @param {Change} change
 * @param {{may: Function, announce: Function}} context of the page
 * @returns {Promise<''|'made'|'asked'>} '' if the user has not made it
 */
export async function makeChange(change, context) {
  const { items } = change;
  let permits = await permitsOf(items, context);
  const isLive = items.some(({ places }) => places.some((place) => place.isLive && isProduction(place.environment)));
  if (!change.always && !isLive && permits.every(({ by }) => by === 'right')) {
    try {
      await change.send({ write: call, items });
      return 'made';
    } catch (error) {
      permits = await newPermits(error, items, context);
    }
  }
  const lines = await Promise.all(items.slice(0, shownItems).map((item) => item.lines?.() ?? []));
  if (document.querySelector('dialog.sheet')) return ''; // its button was pressed twice
  return new Promise((resolve, reject) => { openSheet(change, permits, lines, context, { resolve, reject }); });
}

/**
 * Finds out how each item can be changed: by `right` alone, by the right to turn `off` in a protected or frozen environment, by that to
 * `skip` change requests, or by a `request`. `why` says why the right alone is not enough.
 */
async function permitsOf(items, { may }) {
  const projects = [...new Set(items.flatMap(({ places }) => places.map(({ project }) => project)))];
  const known = new Map(await Promise.all(projects.map(async (project) => /** @type {const} */ ([project, await knownProtections(project)]))));
  return items.map((item) => {
    const permits = item.places.map((place) => {
      const { project, environment: { name } } = place;
      const protection = known.get(project).get(name);
      const why = item.isApproved ? undefined : reasonOf(place, protection);
      if (!why) return { by: 'right', item };
      if (item.turnsOff && protection.allowTurningOff && may('UPDATE_FEATURE_ENVIRONMENT', project, name)) return { by: 'off', item, why, place };
      const skips = may(item.permission, project, name) && may('SKIP_CHANGE_REQUEST', project, name);
      return { by: skips ? 'skip' : 'request', item, why, place };
    });
    return ['request', 'skip', 'off'].map((by) => permits.find((permit) => permit.by === by)).find(Boolean) ?? { by: 'right', item };
  });
}

/** What the button in a message does that undoes a change of items: it can need a change request. */
export async function undoLabel(items, context) {
  const permits = await permitsOf(items, context).catch(() => []);
  return permits.some(({ by }) => by === 'request') ? 'Ask for: Undo' : 'Undo';
}

/** After an error: how the items can be changed if the protections are others than the page knew. Otherwise it throws the error. */
async function newPermits(error, items, context) {
  if (error.status !== 403) throw error;
  forgetProtections();
  const permits = await permitsOf(items, context);
  if (permits.every(({ by }) => by !== 'request')) throw error;
  return permits;
}

/** Why a change needs more than a right, or undefined. */
function reasonOf({ project, environment }, protection) {
  const freeze = currentFreeze(protection);
  const where = html`${environmentName(environment)} ${freeze?.allProjects ? nothing : html`of the project ${text(project)} `}`;
  if (freeze) return html`${where}is frozen until ${exactTime(freeze.until)}: ${text(freeze.reason)}.`;
  if (!protection?.changeRequestEnabled) return undefined;
  return html`Changes in ${where}need a change request with ${counted(protection.requiredApprovals, 'approval')}.`;
}

function openSheet(change, permits, lines, context, { resolve, reject }) {
  let left = permits; // what the button still does
  let result = '';
  let said = ''; // when the sheet closes: then the caller can leave the page
  let running = false;
  const isApproved = change.items.some((item) => item.isApproved); // its reason is in the request
  const controller = new AbortController();
  const reason = element(html`<input name="reason" maxlength=${mostReason} autocomplete="off" dir="auto">`);
  const progress = element(html`<p class="detail" role="status"></p>`);
  const use = element(html`<p class="detail" role="status"></p>`);
  showUse();
  const dialog = openDialog(change.title, content, closed, leave);
  dialog.classList.add('sheet');
  change.opened?.();
  focusButton();

  /** Shows how often applications use what changes. The sheet is of use without it. */
  function showUse() {
    const live = change.items.flatMap(({ places }) => places).filter(({ isLive }) => isLive);
    const toggles = [...new Map(change.items.flatMap((item) => item.toggles).map((toggle) => [toggle.name, toggle])).values()].slice(0, mostUsed);
    if (live.length === 0 || toggles.length === 0) return;
    use.classList.add('use'); // has its place from the beginning: what is below must not move while someone presses it
    lastHours(toggles, live.map(({ environment }) => environment.name), controller.signal).then((words) => { use.textContent = words; }, () => {});
  }

  function asked() {
    return left.filter(({ by }) => by === 'request');
  }

  function content() {
    const impossible = asked().find(({ item }) => !item.asked);
    return [
      change.content ?? nothing,
      changes(),
      use,
      notices(),
      impossible ? impossibility()
        : form({ submit: submitLabel(), busy: 'Working…', danger: change.danger && asked().length < left.length, cancel: leave, send },
          ...change.controls ?? [],
          asked().length < left.length && !isApproved ? field('Reason', reason, 'Optional. The event log shows it.') : nothing,
          progress),
    ];
  }

  /** Says that no request can have the change, and what can be done instead. */
  function impossibility() {
    const { instead } = change;
    return html`<p>A change request cannot do this.</p><div class="buttons">${instead ? html`<button type="button" class="primary" @click=${() => { dialog.close(); instead.action(); }}>${
      instead.label}</button>` : nothing}<button type="submit" class=${instead ? nothing : 'primary'} @click=${() => dialog.close()}>Close</button></div>`;
  }

  /** What was, and what will be. */
  function changes() {
    const one = change.items.length === 1;
    const more = change.items.length - shownItems;
    const item = ({ name }, i) => html`<li>${text(name)}${lines[i].length > 0 ? html`<ul>${lines[i].map((line) => html`<li>${lineWords(line)}</li>`)}</ul>` : nothing}</li>`;
    if (one) return lines[0].length > 0 ? html`<ul class="sentences">${lines[0].map((line) => html`<li>${lineWords(line)}</li>`)}</ul>` : nothing;
    return html`<ul class="sentences">${change.items.slice(0, shownItems).map(item)}${more > 0 ? html`<li>and ${more.toLocaleString('en')} more</li>` : nothing}</ul>`;
  }

  /** Why a request is needed, or why it is not. */
  function notices() {
    const notice = (by, what) => {
      const of = left.filter((permit) => permit.by === by);
      const reasons = new Map(of.map(({ why, place }) => [`${place.project} ${place.environment.name}`, why]));
      return of.length === 0 ? nothing : html`<div class="notice ${by === 'request' ? '' : 'warn'}">
        ${[...reasons.values()].map((why) => html`<p>${why}</p>`)}<div>${what(of)}</div></div>`;
    };
    return [
      notice('request', (of) => `${of.length === 1 && left.length === 1 ? 'This change is' : counted(of.length, 'change is', 'changes are')
      } added to your draft, which you send to review later.`),
      notice('skip', (of) => html`You may make this change without a change request. The event log says so.${of.every(({ item }) => item.asked)
        ? html`<div class="buttons"><button type="button" @click=${askInstead}>Ask for it instead</button></div>` : nothing}`),
      notice('off', (of) => `Turning off is allowed without a change request. The event log says so.${of.some(({ place }) => (
        !context.may('SKIP_CHANGE_REQUEST', place.project, place.environment.name))) ? ' Turning on again needs a change request.' : ''}`),
    ];
  }

  function submitLabel() {
    const requests = asked().length;
    if (requests === 0) return change.submit;
    if (requests < left.length) return `${change.submit}: ${left.length - requests}, ask for ${requests}`;
    return requests === 1 ? 'Ask for it' : `Ask for ${requests} changes`;
  }

  function askInstead() {
    left = left.map((permit) => (permit.by === 'skip' ? { ...permit, by: 'request' } : permit));
    draw();
  }

  function draw() {
    showIn(dialog, change.title, content());
    focusButton();
  }

  function focusButton() {
    /** @type {HTMLElement} */ (dialog.querySelector('[type=submit]')).focus();
  }

  function closed() {
    if (said !== '') context.announce(said);
    resolve(result);
  }

  /** Closes the sheet, or stops the work that has begun. */
  function leave() {
    controller.abort();
    if (!running) dialog.close();
  }

  async function send() {
    change.check?.();
    running = true;
    let stays;
    try {
      await addToDrafts();
      if (left.length > 0) {
        stays = await change.send({
          write: (method, path, body, options) => call(method, path, body, { ...options, reason: reason.value.trim() }),
          items: left.map(({ item }) => item), dialog, signal: controller.signal, progress: (words) => { progress.textContent = words; },
        });
        result = 'made';
      }
    } catch (error) {
      await fail(error);
      return;
    } finally {
      running = false;
    }
    if (!stays) dialog.close();
  }

  /** Shows the change again if the API refuses it because of a protection that the page did not know. */
  async function fail(error) {
    try {
      left = await newPermits(error, left.map(({ item }) => item), context);
      draw();
    } catch {
      if (!change.throws) throw error;
      reject(error);
      dialog.close();
    }
  }

  /** Adds what needs a request to the caller's drafts. */
  async function addToDrafts() {
    const places = Map.groupBy(asked(), ({ place }) => `${place.project} ${place.environment.name}`);
    for (const some of places.values()) {
      const { project, environment } = some[0].place;
      const draft = await ask({ project, environment: environment.name }, some.flatMap(({ item }) => item.asked()));
      left = left.filter((permit) => !some.includes(permit));
      result = 'asked';
      if (left.length === 0) said = `Added to your draft for ${draft.environment}.`;
    }
  }
}
