// The colors of the API reference. The renderer takes them as attributes, so it does not follow the color scheme by itself.

const colors = {
  light: {
    'bg-color': '#ffffff', 'text-color': '#1a1f27', 'primary-color': '#2257d2',
    'nav-bg-color': '#f6f7f9', 'nav-text-color': '#57606d', 'nav-hover-bg-color': '#e9effc', 'nav-hover-text-color': '#1a1f27',
    'nav-accent-color': '#2257d2', 'nav-accent-text-color': '#ffffff',
  },
  dark: {
    'bg-color': '#171b21', 'text-color': '#e7eaef', 'primary-color': '#8ab0ff',
    'nav-bg-color': '#0f1216', 'nav-text-color': '#a0a9b6', 'nav-hover-bg-color': '#1c2a48', 'nav-hover-text-color': '#e7eaef',
    'nav-accent-color': '#8ab0ff', 'nav-accent-text-color': '#0b1530',
  },
};

const reference = document.querySelector('rapi-doc');
const dark = window.matchMedia('(prefers-color-scheme: dark)');

function color() {
  const theme = dark.matches ? 'dark' : 'light';
  reference.setAttribute('theme', theme);
  for (const [name, value] of Object.entries(colors[theme])) reference.setAttribute(name, value);
}

dark.addEventListener('change', color);
color();
reference.addEventListener('spec-loaded', async () => {
  await reference.updateComplete;
  reference.shadowRoot.querySelector('nav')?.setAttribute('aria-label', 'Operations');
});
