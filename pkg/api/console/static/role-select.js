// The choice of a root role, with what the role permits.

import { uniqueId } from './dom.js';
import { element, html } from './template.js';

/**
 * @param {Array<{id: number, name: string, description: string}>} roles
 * @param {number} chosen its id
 * @returns {{control: HTMLSelectElement, shown: Element, describe: () => void}} the control, the element that contains it, and a function that
 *   describes the role after code has chosen another one
 */
export function roleSelect(roles, chosen) {
  const about = element(html`<p class="hint" id=${uniqueId()}></p>`);
  const control = element(html`<select name="rootRole" aria-describedby=${about.id} @change=${describe}>${roles.map(({ id, name }) => html`
    <option value=${id} ?selected=${id === chosen}>${name}</option>`)}</select>`);
  describe();
  return { control, shown: element(html`<div>${control}${about}</div>`), describe };

  function describe() {
    about.textContent = roles.find(({ id }) => id === Number(control.value))?.description ?? '';
  }
}
