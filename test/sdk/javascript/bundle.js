// Prints a program as a script for a page. The program's arguments, and the URL and the token, become constants, as build
// tools do it.
//
//   node bundle.js FILE [ARGUMENT ...]

const { buildSync } = require('esbuild');
const { readFileSync } = require('node:fs');
const { dirname, extname } = require('node:path');

const [file, ...given] = process.argv.slice(2);
const variables = { NODE_ENV: 'production', ...process.env };
const { outputFiles } = buildSync({
  stdin: {
    contents: readFileSync(file, 'utf8').replace(/process\.argv\[(\d)\]/g, (_, i) => JSON.stringify(given[i - 2])),
    loader: extname(file).slice(1),
    resolveDir: dirname(file),
  },
  bundle: true,
  write: false,
  platform: 'browser',
  nodePaths: [variables.NODE_PATH],
  external: ['node:readline'],
  jsx: 'automatic',
  define: Object.fromEntries(
    ['CLIENT_URL', 'CLIENT_TOKEN', 'NODE_ENV'].map((name) => [
      `process.env.${name}`,
      JSON.stringify(variables[name]),
    ]),
  ),
});
process.stdout.write(outputFiles[0].text);
