// Starts the console, or says why it cannot start. This module has only what browsers of 2020 know.

const needs = [
  () => CSS.supports('color', 'light-dark(red, blue)'),
  () => 'popover' in HTMLElement.prototype,
  () => 'groupBy' in Map,
];

if (needs.every((isSupported) => isSupported())) {
  import('./main.js').catch(() => say('The console cannot be loaded', 'Check your connection, and reload the page.'));
} else {
  say('This browser is too old', 'The console needs Chrome or Edge 123, Firefox 128, Safari 17.5, or a later version.');
}

function say(title, text) {
  const heading = document.querySelector('h1');
  heading.textContent = title;
  heading.after(Object.assign(document.createElement('p'), { textContent: text }));
}
