// Comma-separated values (RFC 4180), and the variants of spreadsheets with semicolons or tabs. This module imports nothing.

/**
 * Returns the text of a file: UTF-8, or UTF-16 if a byte order mark says so. The mark is not part of it.
 * @param {Uint8Array} bytes
 * @returns {string|null} null if the file has another encoding
 */
export function fileText(bytes) {
  const [first, second] = bytes;
  const encoding = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * Returns the cells of the rows of a text. Quotes are only special at the beginning of a cell.
 * @param {string} text
 * @returns {string[][]}
 */
export function csvRows(text) {
  const content = text.replace(/^\uFEFF/, '');
  const first = content.split(/[\r\n]/, 1)[0].replace(/"[^"]*"/g, '');
  const separator = ['\t', ';', ','].find((character) => first.includes(character)) ?? ',';
  const rows = [[]];
  for (let at = 0; at < content.length;) {
    const { cell, next } = content[at] === '"' ? quoted(content, at) : plain(content, at, separator);
    rows.at(-1).push(cell);
    const isEnd = /^\r?\n|^\r/.exec(content.slice(next, next + 2));
    if (isEnd) rows.push([]);
    at = next + (isEnd?.[0].length ?? 1);
  }
  return rows.filter((row) => row.some((cell) => cell !== ''));
}

/** A cell up to the next separator or the end of its line. */
function plain(content, at, separator) {
  let next = at;
  while (next < content.length && content[next] !== separator && content[next] !== '\n' && content[next] !== '\r') next += 1;
  return { cell: content.slice(at, next), next };
}

/** A cell in quotes, in which two quotes are one. */
function quoted(content, at) {
  const end = /(?:[^"]|"")*/y;
  end.lastIndex = at + 1;
  const [cell] = end.exec(content);
  return { cell: cell.replaceAll('""', '"'), next: at + cell.length + 2 };
}

/** Returns lines of cells as a text of comma-separated values. Texts do not become formulas in spreadsheets. */
export const csv = (lines) => lines.map((line) => `${line.map(csvCell).join(',')}\r\n`).join('');

/**
 * Spreadsheets run a cell that starts with = + - or @ as a formula, also in their full width. Where lists are separated by semicolons, one
 * begins a cell, even within quotes.
 */
function csvCell(value) {
  const content = typeof value === 'string' ? value.replace(/^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "'") : String(value ?? '');
  return /[",\r\n]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content;
}
