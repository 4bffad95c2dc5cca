// The dialog that adds many values at once: a list that is pasted, or a CSV file.

import { FieldError, field, form, h, openDialog } from './dom.js';
import { csvRows } from './csv.js';

/**
 * Opens the dialog.
 * @param {Object} options
 * @param {string} options.title
 * @param {boolean} [options.described] a second column has descriptions
 * @param {(values: Array<{value: string, description?: string}>) => void} options.add called with values, each of them once
 */
export function openAddValues({ title, described, add }) {
  const pasted = h('textarea', { name: 'values', rows: '10', spellcheck: 'false', dir: 'auto' });
  const file = h('input', { type: 'file', name: 'file', accept: '.csv,.tsv,.txt,text/csv,text/plain', onchange: load });
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
    field('CSV file', file, `The first column has the values${described ? ', the second one the descriptions' : ''}. They are shown above before you add them.`)),
  ]);
  pasted.focus();

  /** Shows the content of the file. */
  async function load() {
    const rows = csvRows(await file.files[0].text());
    pasted.value = rows.map((row) => row.slice(0, 2).map((cell) => cell.replace(/\s+/g, ' ')).join('\t')).join('\n');
    pasted.focus();
  }
}

/** Returns the values and descriptions of a pasted text, without empty lines and the white space around each column. */
function pastedLines(text, described) {
  return text.split(/\r\n|\r|\n/).flatMap((line, i) => {
    const [value, ...more] = line.split('\t').map((column) => column.replace(/^[\s\u0085]+|[\s\u0085]+$/g, ''));
    const description = (described && more.filter(Boolean).join(' ')) || undefined;
    if (value === '' && description !== undefined) throw new FieldError('values', `Line ${i + 1} has a description and no value.`);
    return value === '' ? [] : [{ value, description }];
  });
}
