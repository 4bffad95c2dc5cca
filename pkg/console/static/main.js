import { h } from './dom.js';
import { takeFragment } from './session.js';

takeFragment();

const views = { types: 'Toggle types', context: 'Context fields', tokens: 'Tokens', traffic: 'Traffic' };

const main = h('main', null);
const status = h('p', { role: 'status' });
document.body.append(
  h('header', null,
    h('h1', null, 'Toggle administration'),
    h('nav', null, h('ul', null, Object.entries(views).map(([name, title]) => h('li', null, h('a', { href: `#/${name}` }, title)))))),
  main, status);

let left = new AbortController();

async function show() {
  left.abort();
  left = new AbortController();
  const [name] = Object.keys(views).filter((view) => location.hash === `#/${view}`).concat('types');
  const { render } = await import(`./views/${name}.js`);
  main.replaceChildren();
  await render(main, { user: {}, may: () => true, signal: left.signal, announce: (text) => { status.textContent = text; } });
}

addEventListener('hashchange', show);
show();
