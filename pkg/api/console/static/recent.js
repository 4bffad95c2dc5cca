// The pages of toggles, projects, segments and change requests that the user has visited last, which only this browser knows.

const storage = window.localStorage;
const key = 'toggleadmin.recent';
const most = 6;

/** The pages about one thing, by the first segment of their addresses: what the thing is, and the number of other segments. */
const kinds = {
  toggles: { kind: 'Toggle', segments: 2 }, projects: { kind: 'Project', segments: 1 }, segments: { kind: 'Segment', segments: 1 },
  'change-requests': { kind: 'Change request', segments: 2 },
};

/**
 * The pages that a user has visited, the last one first.
 * @param {{id: number}} user
 * @returns {Array<{address: string, title: string, kind: string}>}
 */
export function visitedPages({ id }) {
  const { user, pages } = JSON.parse(storage.getItem(key) ?? '{}');
  return user === id && Array.isArray(pages) ? pages : [];
}

/** Remembers that a user has visited the page of an address. */
export function remember(user, address, title) {
  const [, name, ...rest] = address.split('?')[0].split('/');
  if (!Object.hasOwn(kinds, name) || rest.length !== kinds[name].segments) return;
  const page = { address: `#/${name}/${rest.join('/')}`, title, kind: kinds[name].kind };
  const others = visitedPages(user).filter((other) => other.address !== page.address);
  storage.setItem(key, JSON.stringify({ user: user.id, pages: [page, ...others].slice(0, most) }));
}

/** Forgets all of them: the next user may not see them. */
export const forgetPages = () => storage.removeItem(key);
