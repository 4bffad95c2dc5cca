// Stages of toggles in words: the mark, why a toggle is in its stage, and what to do next.

import { isProduction } from './environment.js';
import { html } from './template.js';
import { exactTime, relativeDays, shortDate } from './time.js';
import { listed } from './words.js';

const week = 7 * 86_400_000; // for which a toggle is on for everybody when it is complete

/** The environments of the type production of a toggle. */
const production = ({ environments }) => environments.filter(isProduction);

/** Where a toggle is on: "off in production", "on in production and production-eu". */
function whereOn(toggle) {
  const on = production(toggle).filter(({ enabled }) => enabled).map(({ name }) => name);
  return on.length === 0 ? 'off in production' : `on in ${listed(on, 'and')}`;
}

/** Why a toggle is in its stage, as a sentence. */
export function stageReason(toggle) {
  const { stage, lifecycle, archivedAt, potentiallyStaleAt } = toggle;
  switch (stage) {
    case 'new': return html`No application has used it. It is ${whereOn(toggle)}.`;
    case 'complete': return html`On for everybody in production since ${shortDate(Date.parse(lifecycle.enteredStageAt) - week)}. It can be removed from the code.`;
    case 'overdue': return html`Older than the lifetime of its type, which ended ${day(potentiallyStaleAt)}. It is ${whereOn(toggle)}.`;
    case 'to-remove': return html`Marked for removal. It is ${whereOn(toggle)}.`;
    case 'archived': return html`Archived ${day(archivedAt)}. It is off for everybody.`;
    default: return html`Applications use it. It is ${whereOn(toggle)}.`;
  }
}

const day = (at) => (at ? html`<time datetime=${at} title=${exactTime(at)}>${relativeDays(at)}</time>` : '');
