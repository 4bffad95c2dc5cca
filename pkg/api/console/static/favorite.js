// Stars: the toggles and projects that the account of the user has as favorites.

import { call } from './api.js';
import { html, nothing } from './template.js';

/**
 * The button that makes a toggle or a project a favorite, or none. API tokens have no favorites.
 * @param {{name: string, favorite: boolean}} item
 * @param {string} path of the item in the API
 * @param {Object} context of the page
 * @param {() => void} draw called after a change
 */
export function star(item, path, { user, announce, signal }, draw) {
  if (!user) return nothing;
  return html`<button type="button" class="star" aria-pressed=${item.favorite ? 'true' : 'false'} aria-label="Favorite ${item.name}"
    title=${item.favorite ? 'Remove from your favorites' : 'Add to your favorites'} @click=${change}><span aria-hidden="true">${item.favorite ? '★' : '☆'}</span></button>`;

  async function change() {
    const { favorite } = item;
    item.favorite = !favorite; // at once: it fails rarely
    draw();
    try {
      await call(favorite ? 'DELETE' : 'POST', `${path}/favorites`);
    } catch (error) {
      item.favorite = favorite;
      if (!signal.aborted) announce(`${item.name} was not changed. ${error.message}`);
      draw();
      return;
    }
    announce(favorite ? `${item.name} is no favorite any more.` : `${item.name} is a favorite.`);
  }
}
