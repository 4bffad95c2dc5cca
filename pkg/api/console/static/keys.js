// The keys that work on every page.

import { openDialog } from './dialog.js';
import { element, html } from './template.js';

const storage = window.localStorage;
const setting = 'keys';

const isOff = () => storage.getItem(setting) === 'off';

const main = document.querySelector('main');
const inHead = (selector) => main.querySelector(`.head .buttons ${selector}`);

/** The keys without Ctrl, and the control that each uses. */
const keys = {
  '/': { does: 'Search the list', find: () => main.querySelector('[type=search]') },
  c: { does: 'Create, or what the page is for', find: () => inHead('.primary') },
  e: { does: 'Edit', find: () => [...main.querySelectorAll('.head .buttons button')].find(({ textContent }) => textContent.trim() === 'Edit') },
  n: { does: 'Next toggle, or next page of a list', find: () => main.querySelector('a[rel=next]') },
  p: { does: 'Previous toggle, or previous page of a list', find: () => main.querySelector('a[rel=prev]') },
  u: { does: 'Undo the last change', find: () => [...document.querySelectorAll('#toast button')].find(({ textContent }) => textContent.endsWith('Undo')) },
};

/**
 * Listens to the keys.
 * @param {HTMLInputElement} goTo the input to which Ctrl K leads
 */
export function listenToKeys(goTo) {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || document.querySelector('dialog[open]')) return;
    if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      goTo.focus();
      goTo.select();
      return;
    }
    if (event.ctrlKey || event.metaKey || /** @type {Element} */ (event.target).closest('input, textarea, select, [contenteditable]')) return;
    if (event.key === '?') {
      event.preventDefault();
      openKeys();
      return;
    }
    if (isOff() || !Object.hasOwn(keys, event.key)) return;
    const control = /** @type {HTMLElement|null|undefined} */ (keys[event.key].find());
    if (!control) return;
    event.preventDefault();
    if (control instanceof HTMLInputElement) {
      control.focus();
      control.select();
    } else {
      control.click();
    }
  });
}

/** Opens the list of the keys. A person who uses speech, or types by mistake, can turn single keys off. */
export function openKeys() {
  const off = element(html`<input type="checkbox" .checked=${isOff()}>`);
  off.addEventListener('change', () => {
    if (/** @type {HTMLInputElement} */ (off).checked) storage.setItem(setting, 'off');
    else storage.removeItem(setting);
  });
  const row = (key, does) => html`<div><dt><kbd>${key}</kbd></dt><dd>${does}</dd></div>`;
  const dialog = openDialog('Keys', () => html`
    <dl class="keys">
      ${row('Ctrl K', 'Go to a page, toggle, project, segment, application or person; “create” lists what you can create; “turn off NAME in production” turns it off')}
      ${row('?', 'Show these keys')}
      ${Object.entries(keys).map(([key, { does }]) => row(key, does))}
    </dl>
    <p><label>${off} Turn off the keys of one letter in this browser</label></p>
    <div class="buttons"><button type="button" class="primary" @click=${() => dialog.close()}>Close</button></div>`);
}
