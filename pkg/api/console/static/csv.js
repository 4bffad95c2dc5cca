// Comma-separated values (RFC 4180), and the variants of spreadsheets with semicolons or tabs. This module imports nothing.

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
