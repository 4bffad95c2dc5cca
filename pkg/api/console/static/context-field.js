// Context fields in all views: their addresses, what uses them, and the dialog that deletes one.

import { call } from './api.js';
import { form, openLoadedDialog } from './dialog.js';
import { counted, text } from './dom.js';
import { loadSegments, segmentAddress } from './segment.js';
import { html, nothing } from './template.js';
import { listAddress, searchToggles, toggleAddress } from './toggle.js';

const shownUses = 12;

/** The path of the context fields in the API. */
export const fieldsPath = '/api/admin/context';

/** The path of a context field in the API. */
export const fieldPath = (name) => `${fieldsPath}/${encodeURIComponent(name)}`;

/** The address of the page of a context field. */
export const fieldAddress = (name) => `#/context/${encodeURIComponent(name)}`;

/**
 * Loads what uses a context field: the first toggles, their number, and all segments.
 * @returns {Promise<{toggles: Array, total: number, segments: Array}>}
 */
export async function loadUses(name, signal) {
  const [{ features, total }, segments] = await Promise.all([
    searchToggles({ contextField: name, sortBy: 'name', limit: shownUses }, signal),
    loadSegments(signal),
  ]);
  return { toggles: features, total, segments: segments.filter(({ constraints }) => constraints.some(({ contextName }) => contextName === name)) };
}

/** How much uses it, in words, and a verb: "3,754 toggles and 1 segment use". Empty if nothing does. */
export function usesWords({ total, segments }) {
  const parts = [total > 0 && counted(total, 'toggle'), segments.length > 0 && counted(segments.length, 'segment')].filter(Boolean);
  return parts.length === 0 ? '' : `${parts.join(' and ')} ${total + segments.length === 1 ? 'uses' : 'use'}`;
}

/** Links to what uses it, as items of a list. */
export const usesLinks = (name, { toggles, total, segments }) => [
  ...segments.slice(0, shownUses).map((segment) => html`<li>Segment <a href=${segmentAddress(segment.id)}>${text(segment.name)}</a></li>`),
  ...toggles.map((toggle) => html`<li><a href=${toggleAddress(toggle)}>${text(toggle.name)}</a></li>`),
  total > toggles.length ? html`<li>and <a href=${listAddress({ contextField: name })}>${(total - toggles.length).toLocaleString('en')} more</a></li>` : nothing,
];

/**
 * Opens the dialog that deletes a field, or says what uses it: then it cannot be deleted.
 * @param {{name: string, legalValues: Array}} item
 * @param {() => Promise<void>} deleted
 */
export function openDeletion({ name, legalValues }, deleted) {
  openLoadedDialog(['Delete the context field ', text(name), '?'], 'what uses it', (signal) => loadUses(name, signal), (uses, close) => {
    const words = usesWords(uses);
    if (words !== '') {
      return html`<p>It cannot be deleted: ${words} it.</p>
        <ul class="sentences">${usesLinks(name, uses)}</ul>
        <div class="buttons">${uses.total > 0 ? html`<a class="button" href=${listAddress({ contextField: name })}>Show them</a>` : nothing}
          <button type="button" class="primary" @click=${close}>Close</button></div>`;
    }
    return form({
      submit: 'Delete context field',
      busy: 'Deleting…',
      danger: true,
      cancel: close,
      async send() {
        await call('DELETE', fieldPath(name)).catch((error) => {
          if (error.status !== 404) throw error; // it is gone already
        });
        close();
        await deleted();
      },
    },
    html`<p>Nothing uses it.${legalValues.length > 0 ? ` Its ${counted(legalValues.length, 'legal value')} will be deleted, too.` : ''} This cannot be undone.</p>`);
  });
}
