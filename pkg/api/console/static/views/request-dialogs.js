// The dialogs that change the state of a change request. Each sends what the user has read: a request that somebody has changed meanwhile stays.

import { call } from '../api.js';
import { changeCount, changesOf, deleteDraft, openRequest, requestPath, requestsPath, requestTitle, setState } from '../change-request.js';
import { FieldError, field, form, openDialog, openLoadedDialog } from '../dialog.js';
import { text } from '../dom.js';
import { environmentName } from '../environment.js';
import { element, html, nothing } from '../template.js';
import { exactTime, inputTime, isUTC, ownZone, timeOfInput } from '../time.js';
import { makeChange } from './change-sheet.js';

const mostComment = 1000; // characters
const mostTitle = 200;
const hour = 3_600_000;
const changedMeanwhile = 'Somebody has changed it since you opened it. Look at it again.';

const commentInput = () => element(html`<input name="comment" autocomplete="off" maxlength=${mostComment} dir="auto">`);

/** Changes the state of a request, and says so. */
async function become(opened, body, said, { announce }) {
  const request = await setState(opened, body).catch((error) => {
    throw error.status === 412 ? new Error(changedMeanwhile, { cause: error }) : error;
  });
  announce(typeof said === 'function' ? said(request) : said);
}

/**
 * Asks, with a comment, and gives a request another state.
 * @param {{content: Object, etag: string|null}} opened the request as the user has read it
 * @param {{state: string, title: string, submit: string, danger?: boolean, about?: string, said: string|((request: Object) => string)}} options
 * @param {{announce: Function}} context of the page
 */
export function openState(opened, { state, title, submit, danger, about, said }, context) {
  const comment = commentInput();
  const dialog = openDialog([`${title} “`, text(requestTitle(opened.content)), '”?'], () => [
    about ? html`<p>${about}</p>` : nothing,
    form({
      submit, busy: 'Working…', danger, cancel: () => dialog.close(),
      async send() {
        await become(opened, { state, ...comment.value.trim() && { comment: comment.value.trim() } }, said, context);
        dialog.close();
      },
    }, field('Comment', comment, 'Optional.')),
  ]);
  /** @type {HTMLElement} */ (dialog.querySelector('[type=submit]')).focus();
}

/** Asks for the title and the reviewers of a draft, and sends it to review. */
export function openSending(draft, context) {
  openLoadedDialog(['Send ', changeCount(draft), ' to review?'], 'who may approve', (signal) => loadSending(draft, signal), ({ opened, asked, reviewers }, close) => {
    const title = element(html`<input name="title" maxlength=${mostTitle} autocomplete="off" dir="auto" value=${opened.content.title ?? ''}>`);
    const needs = (opened.content.environments ?? []).length > 0;
    const choices = reviewerChoices(reviewers.filter(({ id }) => id !== context.user?.id), asked);
    return form({
      submit: needs ? 'Send to review' : 'Finish', busy: 'Sending…', cancel: close,
      async send() {
        const entered = title.value.trim();
        if (entered !== (opened.content.title ?? '')) await call('PUT', `${requestPath(draft)}/title`, { title: entered }, { etag: opened.etag });
        if (needs) await choices.save(draft);
        await become(opened, { state: 'In review' }, ({ state }) => (state === 'Approved' ? 'It needs no approvals: apply it, or schedule it.' : 'Sent to review.'), context);
        close();
      },
    },
    field('Title', title, 'Optional. What the change is for.'),
    needs ? choices.element : html`<p class="detail">No approvals are needed. Then it can be applied or scheduled.</p>`);
  });
}

async function loadSending(draft, signal) {
  const [opened, { reviewers: asked }, { reviewers }] = await Promise.all([
    openRequest(draft, signal),
    call('GET', `${requestPath(draft)}/approvers`, undefined, { signal }),
    call('GET', `${requestsPath(draft.project)}/available-reviewers/${encodeURIComponent(draft.environment)}`, undefined, { signal }),
  ]);
  return { opened, asked: asked.map(({ id }) => id), reviewers };
}

/** The choice of those who are asked to approve, and a function that saves it. */
function reviewerChoices(reviewers, asked) {
  const name = ({ id, name: of, username, email }) => of || username || email || `user ${id}`;
  const place = element(html`<fieldset><legend>Ask for an approval</legend>
    <p class="detail">${reviewers.length === 0 ? 'Nobody else may approve it. Ask an Owner of the project to give somebody a role.' : 'Others who may approve it can do so, too.'}</p>
    <div class="choices">${reviewers.map((reviewer) => html`<label class="check"><input type="checkbox" value=${reviewer.id} ?checked=${
  asked.includes(reviewer.id)}><span>${text(name(reviewer))}</span></label>`)}</div></fieldset>`);
  return {
    element: place,
    async save(request) {
      const chosen = [...place.querySelectorAll(':checked')].map(({ value }) => Number(value));
      if (JSON.stringify(chosen.toSorted()) !== JSON.stringify(asked.toSorted())) await call('PUT', `${requestPath(request)}/approvers`, { reviewers: chosen });
    },
  };
}

/** Asks who is to approve a request. */
export function openReviewers(request, context, saved) {
  openLoadedDialog('Ask for approvals', 'who may approve', (signal) => loadSending(request, signal), ({ asked, reviewers }, close) => {
    const choices = reviewerChoices(reviewers.filter(({ id }) => id !== context.user?.id), asked);
    return form({
      submit: 'Save', busy: 'Saving…', cancel: close,
      async send() {
        await choices.save(request);
        close();
        saved();
      },
    }, choices.element);
  });
}

/** Asks when a request is to be applied, and schedules it. */
export function openSchedule(opened, context) {
  const { content: request } = opened;
  const now = Date.now();
  const proposed = request.schedule?.scheduledAt ?? Math.ceil((now + hour) / hour) * hour;
  const at = element(html`<input type="datetime-local" name="scheduledAt" required min=${inputTime(now)} value=${inputTime(proposed)}>`);
  const dialog = openDialog(['Schedule “', text(requestTitle(request)), '”?'], () => [
    html`<p>It is applied at most two minutes after this time.</p>`,
    form({
      submit: 'Schedule', busy: 'Working…', cancel: () => dialog.close(),
      async send() {
        if (!at.value) throw new FieldError('scheduledAt', 'Enter a date and a time.');
        const scheduledAt = timeOfInput(at.value);
        await become(opened, { state: 'Scheduled', scheduledAt }, `Will be applied on ${exactTime(scheduledAt)}.`, context);
        dialog.close();
      },
    }, field('Time', at, `In the time zone ${isUTC() ? 'UTC' : ownZone}.`)),
  ]);
  at.focus();
}

/**
 * Shows what a request changes, and applies it.
 * @param {{content: Object, etag: string|null}} opened
 * @param {Map<number, import('../state-words.js').Line[]>} lines by the ids of changes
 * @param {{name: string, type: string}} environment of the request
 * @param {{announce: Function, may: Function}} context of the page
 */
export function openApplying(opened, lines, environment, context) {
  const { content: request } = opened;
  const toggles = request.features.map(({ name }) => ({ project: request.project, name }));
  return makeChange({
    title: ['Apply “', text(requestTitle(request)), '”?'],
    submit: 'Apply',
    always: true,
    content: [html`<p>${changeCount(request)} for ${environmentName(environment)} of ${text(request.project)}${changesOf(request).length > 1 ? ', all of them at once' : ''}.</p>`],
    items: [{
      name: requestTitle(request),
      toggles,
      places: [{ project: request.project, environment, isLive: true }],
      isApproved: true,
      permission: 'APPLY_CHANGE_REQUEST',
      lines: () => changesOf(request).flatMap(({ id, feature }) => lines.get(id).map((line) => ({ ...line, label: `${feature ? `${feature}, ` : ''}${line.label}` }))),
    }],
    send: () => become(opened, { state: 'Applied' }, 'Applied.', context),
  }, context);
}

/** Asks, and deletes a draft. */
export function openDraftDeletion(draft, { announce }, deleted) {
  const dialog = openDialog('Delete your draft?', () => [
    html`<p>Its ${changeCount(draft)} for ${text(draft.environment)} of ${text(draft.project)} will not be asked for.</p>`,
    form({
      submit: 'Delete draft', busy: 'Deleting…', danger: true, cancel: () => dialog.close(),
      async send() {
        await deleteDraft(draft);
        dialog.close();
        announce('Draft deleted.');
        deleted();
      },
    }),
  ]);
}
