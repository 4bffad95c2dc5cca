// Tabs, and links to other views of a page, which show them without a new page.

import { html, nothing } from './template.js';

/** Reports whether a click on a link follows it in this tab of the browser. */
export const isPlainClick = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey);

/**
 * Returns a listener of a link, which shows what it leads to without a new page.
 * @param {(hash: string) => void} go
 */
export const following = (go) => (event) => {
  if (!isPlainClick(event)) return;
  event.preventDefault();
  go(event.currentTarget.hash);
};

/**
 * The template of tabs with numbers.
 * @param {string} label for screen readers
 * @param {Array<{label: string, href: string, isCurrent: boolean, count?: number|null}>} all without `count` while the number is loading, and with
 *   null if it could not be loaded
 * @param {(tab: Object) => void} [show] shows one of them; without it, the links have `data-here`, and the page follows them
 */
export function tabs(label, all, show) {
  return html`<ul class="tabs" aria-label=${label}>${all.map((tab) => html`
    <li><a ?data-here=${!show} href=${tab.href} aria-current=${tab.isCurrent ? 'true' : nothing} @click=${show ? following(() => show(tab)) : nothing}>${
  tab.label} <span class="number">${tab.count === null ? nothing : tab.count?.toLocaleString('en') ?? '…'}</span></a></li>`)}</ul>`;
}
