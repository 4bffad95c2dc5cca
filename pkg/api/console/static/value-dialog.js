// The dialog that adds many values at once: a list that is pasted, or a CSV file.

import { csvRows, fileText } from './csv.js';
import { FieldError, field, form, openDialog } from './dialog.js';
import { setError } from './dom.js';
import { pastedRows } from './pasted.js';
import { element, html } from './template.js';

/**
 * Opens the dialog.
 * @param {Object} options
 * @param {string} options.title
 * @param {string} options.name of the field, which is no value if it is the first line of a file
 * @param {boolean} [options.described] a second column has descriptions
 * @param {(values: Array<{value: string, description?: string}>) => void} options.add called with values, each of them once
 */
export function openAddValues({ title, name, described, add }) {
  const pasted = element(html`<textarea name="values" rows="10" spellcheck="false" dir="auto"></textarea>`);
  const file = element(html`<input type="file" name="file" accept=".csv,.tsv,.txt,text/csv,text/plain" @change=${load}>`);
  const leftOut = element(html`<p class="hint" role="status"></p>`);
  const dialog = openDialog(title, () => [
    form({
      submit: 'Add', busy: 'Adding…', cancel: () => dialog.close(),
      send: async () => {
        const lines = pastedLines(pasted.value, described);
        if (lines.length === 0) throw new FieldError('values', 'Enter at least one value.');
        dialog.close();
        const values = new Map();
        for (const line of lines) if (!values.has(line.value)) values.set(line.value, line);
        add([...values.values()]);
      },
    },
    field('Values', pasted, `One in each line, for example a column of a spreadsheet.${described ? ' A second column is the description.' : ''} ` +
      'Values that are there already are skipped.'),
    field('CSV file', file, `The first column has the values${described ? ', the second one the descriptions' : ''}. They are shown above before you add them.`),
    leftOut),
  ]);
  pasted.focus();

  /** Shows the content of the file. */
  async function load() {
    const bytes = new Uint8Array(await file.files[0].arrayBuffer());
    const content = fileText(bytes);
    leftOut.textContent = '';
    setError(file, content === null ? 'The file is not in UTF-8. Save it as “CSV UTF-8”, and choose it again.' : '');
    if (content === null) return;
    const rows = csvRows(content);
    if (rows[0]?.[0].trim().toLowerCase() === name.toLowerCase()) leftOut.textContent = `The first line, “${rows.shift()[0]}”, was left out: it is the name of the field.`;
    pasted.value = rows.map((row) => row.slice(0, 2).map((cell) => cell.replace(/\s+/g, ' ')).join('\t')).join('\n');
    pasted.focus();
  }
}

/** Returns the values and descriptions of a pasted text, without empty lines. */
function pastedLines(text, described) {
  return pastedRows(text).flatMap(([value, ...more], i) => {
    const description = (described && more.filter(Boolean).join(' ')) || undefined;
    if (value === '' && description !== undefined) throw new FieldError('values', `Line ${i + 1} has a description and no value.`);
    return value === '' ? [] : [{ value, description }];
  });
}
