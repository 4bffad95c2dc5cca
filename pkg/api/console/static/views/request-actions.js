// What the user may do with a change request.

import { changesOf, hasConflict } from '../change-request.js';
import { openApplying, openDraftDeletion, openSchedule, openSending, openState } from './request-dialogs.js';
import { requestRights } from './request-rights.js';

const isFinal = 'It cannot be changed or applied any more.';

/**
 * The actions that are possible in the state of a request, the most likely first.
 * @param {{opened: {content: Object, etag: string|null}, lines: Map, environment: {name: string, type: string}, freeze?: Object}} shown what the
 *   page shows: the request, what its changes change, and whether its environment is frozen
 * @param {Object} context of the page
 * @returns {Array<{label: string, danger?: boolean, action: () => void}>}
 */
export function requestActions({ opened, lines, environment, freeze }, context) {
  const { content: request } = opened;
  const { isAuthor, approves, rejects, applies, isComplete } = requestRights(request, context);
  const become = (label, options) => ({ label, danger: options.danger, action: () => openState(opened, { submit: label, ...options }, context) });
  const send = { label: 'Send to review', action: () => openSending(request, context) };
  const approve = become('Approve', {
    state: 'Approved', title: 'Approve', said: ({ state }) => (state === 'In review' ? 'Approved. It needs more approvals.' : 'Approved. It can be applied.'),
  });
  const apply = { label: request.state === 'Scheduled' ? 'Apply now' : 'Apply', action: () => openApplying(opened, lines, environment, context) };
  const schedule = { label: request.state === 'Scheduled' ? 'Change the time…' : 'Schedule…', action: () => openSchedule(opened, context) };
  const unschedule = become('Take the schedule back', { state: 'Approved', title: 'Take back the schedule of', said: 'It is not scheduled any more.' });
  const reject = become('Reject', { state: 'Rejected', title: 'Reject', danger: true, about: isFinal, said: 'Rejected.' });
  const cancel = become('Cancel request', { state: 'Cancelled', title: 'Cancel', danger: true, about: isFinal, said: 'Canceled.' });
  const discard = { label: 'Delete draft', danger: true, action: () => openDraftDeletion(request, context, () => { window.location.hash = '#/change-requests'; }) };

  const isPossible = applies && !hasConflict(request);
  const appliesNow = isPossible && (!freeze || context.may('SKIP_CHANGE_REQUEST', request.project, request.environment));
  const byState = {
    Draft: [isAuthor && changesOf(request).length > 0 && send, isAuthor && discard],
    'In review': [approves && approve, isComplete && appliesNow && apply, rejects && reject, isAuthor && cancel],
    Approved: [appliesNow && apply, isPossible && schedule, approves && approve, rejects && reject, isAuthor && cancel],
    Scheduled: [appliesNow && apply, isPossible && schedule, (isAuthor || applies) && unschedule, rejects && reject, isAuthor && cancel],
  };
  return (byState[request.state] ?? []).filter(Boolean);
}
