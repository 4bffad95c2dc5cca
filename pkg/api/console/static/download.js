// Downloads of files.

import { element, html } from './template.js';

/** Downloads a text as a file of comma-separated values. */
export function downloadFile(name, content) {
  const file = URL.createObjectURL(new Blob([content], { type: 'text/csv;charset=utf-8' }));
  element(html`<a href=${file} download=${name}></a>`).click();
  setTimeout(() => URL.revokeObjectURL(file), 60_000); // the browser reads it after the click
}
