// Why a toggle is in its stage, and what to do next.

import { connectAddress } from '../client-token.js';
import { copyText } from '../clipboard.js';
import { environmentAddress, isProduction } from '../environment.js';
import { stageReason } from '../stage.js';
import { html, nothing } from '../template.js';

/**
 * @param {Object} toggle
 * @param {Object} context of the page
 */
export function nextStep(toggle, context) {
  return html`<p class="next-step"><span>${stageReason(toggle)}</span> ${step(toggle, context)}</p>`;
}

function step(toggle, context) {
  const { stage, environments } = toggle;
  const target = environments.find(isProduction);
  switch (stage) {
    case 'new': return context.may('READ_CLIENT_API_TOKEN') ? html`<a class="button" href=${connectAddress(toggle)}>Connect an SDK</a>` : nothing;
    case 'rolling-out': return target ? html`<a class="button" data-here href=${environmentAddress(toggle, target.name)}>Roll out further</a>` : nothing;
    case 'archived': return nothing;
    default: return html`<button type="button" @click=${copy}>Copy as a ticket</button>`;
  }

  async function copy() {
    const { ticket } = await import('../ticket.js');
    copyText(await ticket([toggle], context.signal), 'Ticket copied.', context.announce);
  }
}
