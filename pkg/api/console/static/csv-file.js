// Files with comma-separated values, as in RFC 4180.

import { h } from './dom.js';

/** Returns lines of cells as a text. Texts do not become formulas in spreadsheets. */
export const csv = (lines) => lines.map((line) => `${line.map(cell).join(',')}\r\n`).join('');

/** Spreadsheets run a text that starts with one of these characters as a formula. */
function cell(value) {
  let result = String(value ?? '');
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(result)) result = `'${result}`;
  return /[",\r\n]/.test(result) ? `"${result.replaceAll('"', '""')}"` : result;
}

/** Downloads a text as a file. */
export function downloadFile(name, content) {
  const file = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  h('a', { href: file, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000); // the browser reads it after the click
}
