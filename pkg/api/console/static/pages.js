// The pages of the console. main.js shows them, and the tests of the browser visit them all.

import { html, render as show } from './template.js';
import { config } from './views/sign-in.js';

/**
 * The pages by the first segment of the fragment, in the order of the navigation. A page without a permission is for everyone, and one
 * without a group is not in the navigation. One with `ofUser` is for credentials that identify a user. One with `ofProject` is a list that can show one project. `titleOf` names a page by the other segments of its address, until the page has a better title.
 */
export const pages = {
  '': { group: 'Toggles', title: 'Home', ofUser: true, load: () => import('./views/home.js') },
  toggles: { group: 'Toggles', title: 'Toggles', ofProject: true, titleOf: ([, name]) => name, load: () => import('./views/toggles.js') },
  projects: { group: 'Toggles', title: 'Projects', titleOf: ([id]) => id, load: () => import('./views/projects.js') },
  'change-requests': { group: 'Toggles', title: 'Change requests', ofProject: true, titleOf: ([, id]) => id && `Change request ${id}`, load: () => import('./views/change-requests.js') },
  segments: { group: 'Toggles', title: 'Segments', load: () => import('./views/segments.js') },
  context: { group: 'Toggles', title: 'Context fields', load: () => import('./views/context.js') },
  playground: { group: 'Toggles', title: 'Playground', load: () => import('./views/playground.js') },
  cleanup: { group: 'Observe', title: 'Clean-up', ofProject: true, load: () => import('./views/cleanup.js') },
  usage: { group: 'Observe', title: 'Usage', ofProject: true, load: () => import('./views/applications.js') },
  events: { group: 'Observe', title: 'Event log', ofProject: true, load: () => import('./views/events.js'), permission: 'ADMIN' },
  'api-tokens': { group: 'Access', title: 'API tokens', load: () => import('./views/client-tokens.js'), permission: 'READ_CLIENT_API_TOKEN' },
  'service-accounts': { group: 'Access', title: 'Service accounts', load: () => import('./views/service-accounts.js'), permission: 'ADMIN' },
  people: { group: 'Access', title: 'People', load: () => import('./views/people.js'), permission: 'ADMIN' },
  groups: { group: 'Access', title: 'Groups', load: () => import('./views/groups.js') },
  roles: { group: 'Access', title: 'Roles', load: () => import('./views/roles.js') },
  environments: { group: 'Set-up', title: 'Environments', load: () => import('./views/environments.js') },
  types: { group: 'Set-up', title: 'Toggle types', load: () => import('./views/types.js') },
  'tag-types': { group: 'Set-up', title: 'Tag types', load: () => import('./views/tag-types.js') },
  traffic: { group: 'Set-up', title: 'API requests', load: () => import('./views/traffic.js'), permission: 'ADMIN' },
  tokens: { title: 'Your tokens', load: () => import('./views/tokens.js') },
  ...config.local && { design: { title: 'Design', load: () => import('./views/design.js') } },
};

const unknown = { title: 'Page not found', load: async () => ({ render: notFound }) };

function notFound(content) {
  show(html`<p>This address names no page. <a href="#/toggles">Show the toggles</a>.</p>`, content);
}

/**
 * What a fragment names: `#/<page>`, `#/<page>/<detail>` or `#/<page>?<search>`.
 * @returns {{name: string, page: Object, title: string, detail: string, search: URLSearchParams}}
 */
export function parseAddress(fragment) {
  const [address, ...search] = fragment.split('?');
  const [, name, ...rest] = address.split('/');
  const page = Object.hasOwn(pages, name) ? pages[name] : unknown;
  return { name, page, title: page.titleOf?.(rest) || page.title, detail: rest.join('/'), search: new URLSearchParams(search.join('?')) };
}
