// Downloads of files.

import { h } from './dom.js';

/** Downloads a text as a file of comma-separated values. */
export function downloadFile(name, content) {
  const file = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  h('a', { href: file, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000); // the browser reads it after the click
}
