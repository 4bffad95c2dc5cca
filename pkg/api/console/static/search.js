// The search in lists that a page has loaded as a whole, which finds what the search of the API finds, and the marks of what was found.

import { breakable } from './dom.js';
import { html } from './template.js';

/** Returns the same text for all spellings that differ only in letter case or in the Unicode form of characters. */
export const fold = (text) => text.toLowerCase().normalize('NFC');

/**
 * Returns a function that reports whether texts match a search: terms separated by commas are alternatives, and all words of a term must
 * be in the texts. An empty search matches everything.
 * @param {string} query
 * @returns {(...texts: (string|null|undefined)[]) => boolean}
 */
export function matcher(query) {
  const terms = fold(query).split(',').map((term) => term.split(/\s+/).filter(Boolean)).filter((words) => words.length > 0);
  return (...texts) => {
    const text = fold(texts.filter(Boolean).join('\n'));
    return terms.length === 0 || terms.some((words) => words.every((word) => text.includes(word)));
  };
}

/**
 * A text from the API with marks at the words of a search. A long name breaks after a point or an underscore, as it does after a hyphen.
 * @param {string} text
 * @param {string} [query]
 */
export function marked(text, query = '') {
  const words = query.normalize('NFC').split(/[\s,]+/).filter(Boolean).sort((a, b) => b.length - a.length);
  const pattern = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  const parts = words.length > 0 ? text.normalize('NFC').split(new RegExp(`(${pattern})`, 'iu')) : [text];
  return html`<bdi>${parts.map((part, i) => (i % 2 === 1 ? html`<mark>${breakable(part)}</mark>` : breakable(part)))}</bdi>`;
}

const longName = 24; // characters

/** `marked` for a name in rows of one height. A long one has two lines in wide windows, its start and its end, both cut towards its middle. */
export function cut(name, query) {
  if (name.length <= longName) return marked(name, query);
  const half = name.length / 2;
  const middle = [...name.matchAll(/[-._~]/g)].map(({ index }) => index + 1).reduce((best, at) => (Math.abs(at - half) < Math.abs(best - half) ? at : best), 0) || half;
  return html`<span class="cut"><span>${marked(name.slice(0, middle), query)}</span><span>${marked(name.slice(middle), query)}</span></span>`;
}
