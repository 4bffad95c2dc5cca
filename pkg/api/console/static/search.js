// The search in lists that a page has loaded as a whole. It finds what the search of the API finds.

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
