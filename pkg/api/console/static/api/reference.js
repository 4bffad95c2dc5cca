// The theme of the API reference. The renderer does not follow the color scheme by itself; reference.css has its colors.

const reference = document.querySelector('rapi-doc');
const dark = window.matchMedia('(prefers-color-scheme: dark)');

function setTheme() {
  reference.setAttribute('theme', dark.matches ? 'dark' : 'light');
}

dark.addEventListener('change', setTheme);
setTheme();

reference.addEventListener('spec-loaded', async () => {
  await reference.updateComplete;
  // The renderer moves this line out of the column.
  reference.shadowRoot.getElementById('api-info')?.style.setProperty('margin-inline-start', '0');
  reference.shadowRoot.querySelector('nav')?.setAttribute('aria-label', 'Operations'); // there is a second nav inside it
});
