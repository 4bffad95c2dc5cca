// Menus of actions, which a button opens beside it. The browser closes them, and returns the focus.

import { html, nothing } from './template.js';

/**
 * A button and the menu that it opens.
 * @param {string} label of the button, which shows only dots unless `shown` is its text
 * @param {string} id unique in the document, and the same each time
 * @param {Array<{label: unknown, danger?: boolean, href?: string, action?: () => void}>} items links, or buttons with an action
 * @param {string} [shown]
 */
export function menu(label, id, items, shown) {
  return html`
    <button type="button" class=${shown ? nothing : 'more'} popovertarget=${id} aria-label=${shown ? nothing : label}>${shown ? `${shown} ▾` : '⋯'}</button>
    <div class="menu" id=${id} popover @beforetoggle=${place}>${items.map(({ label: text, danger, href, action }) => (href
      ? html`<a href=${href}>${text}</a>`
      : html`<button type="button" class=${danger ? 'danger quiet' : nothing} @click=${(event) => {
        event.currentTarget.closest('[popover]').hidePopover();
        action();
      }}>${text}</button>`))}</div>`;
}

/** Puts a menu below its button, or above it at the end of the window, towards the middle of the window. */
function place({ newState, currentTarget: element }) {
  if (newState !== 'open') return;
  const button = element.previousElementSibling.getBoundingClientRect();
  const height = Math.min(2.25 * 16 * element.children.length, 0.6 * window.innerHeight);
  const below = button.bottom + height < window.innerHeight;
  const { clientWidth } = document.documentElement;
  const isLeft = button.left + button.right < clientWidth;
  element.style.setProperty('--top', `${window.scrollY + (below ? button.bottom + 4 : button.top - height - 4)}px`);
  element.style.setProperty('--left', isLeft ? `${button.left}px` : 'auto');
  element.style.setProperty('--right', isLeft ? 'auto' : `${clientWidth - button.right}px`);
}
