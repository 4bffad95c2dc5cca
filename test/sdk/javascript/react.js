// Renders the App of a file with React, and prints the text that a page would show, whenever it changes.
//
//   node react.js FILE

const { buildSync } = require('esbuild');
const { createRequire } = require('node:module');

const { outputFiles } = buildSync({
  entryPoints: [process.argv[2]],
  bundle: true,
  write: false,
  platform: 'node',
  packages: 'external',
  jsx: 'automatic',
});
const bundle = { exports: {} };
new Function('module', 'exports', 'require', outputFiles[0].text)(
  bundle,
  bundle.exports,
  createRequire(__filename),
);

const { createElement } = require('react');
const { create } = require('react-test-renderer');

const renderer = create(createElement(bundle.exports.App));
let shown;
setInterval(() => {
  const text = renderer.toJSON()?.children.join('');
  if (text && text !== shown) console.log(text);
  shown = text;
}, 50);
