// Lists of values that somebody pastes. This module imports nothing.

/**
 * Returns the rows of a text, such as rows of a spreadsheet: their columns, without the white space around each.
 * @param {string} text
 * @returns {string[][]}
 */
export const pastedRows = (text) => text.split(/\r\n|\r|\n/)
  .map((line) => line.split('\t').map((column) => column.replace(/^[\s\u0085]+|[\s\u0085]+$/g, '')));

/**
 * Returns the values of a pasted list: the first column of its rows, or the parts between commas of a single line.
 * @param {string} text
 * @returns {string[]|null} null if the text is one value without separators
 */
export function pastedValues(text) {
  if (/[\t\r\n]/.test(text)) return pastedRows(text).map(([value]) => value).filter((value) => value !== '');
  const parts = text.split(',').map((part) => part.trim()).filter((part) => part !== '');
  return text.includes(',') ? parts : null;
}
