// Text from the API with links.

import { html } from './template.js';

const address = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'])/i;

/** A text whose addresses of web pages are links. They open in another tab. */
export const linked = (text) => html`<bdi>${text.split(address).map((part, i) => (i % 2 === 0 ? part
  : html`<a href=${part} target="_blank" rel="noopener noreferrer">${part}<span aria-hidden="true"> ↗</span></a>`))}</bdi>`;
