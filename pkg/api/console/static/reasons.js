// Why something holds or not, as nested lists.

import { html, nothing } from './template.js';

/** Whether something holds, as a mark and as a word for screen readers. */
export const mark = (holds) => html`<span class=${holds ? 'holds' : 'fails'}><span aria-hidden="true">${holds ? '✓' : '✗'}</span><span class="visually-hidden">${
  holds ? 'holds:' : 'does not hold:'}</span></span>`;

/** The reasons of `strategyReasons` in words.js. */
export function reasonList(parts) {
  return html`<ul class="reasons">${parts.map(({ holds, text, parts: inner }) => html`<li>${mark(holds)} <bdi>${text}</bdi>${
    inner?.length > 0 ? reasonList(inner) : nothing}</li>`)}</ul>`;
}
