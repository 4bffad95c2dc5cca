// The menu that changes how the list of toggles looks: its columns, and the height of its rows. The browser keeps the choice. It also saves what
// the list shows.

import { menu } from '../menu.js';

const columns = { project: 'Project', owner: 'Owner', stage: 'Stage', createdAt: 'Created', lastSeenAt: 'Last used', potentiallyStaleAt: 'Removal' };

/**
 * The template of the menu.
 * @param {{key: string, read: () => {isComfortable: boolean, hidden: string[]}}} view of `toggles-table.js`
 * @param {() => void} changed shows the list again
 * @param {(() => void)|null} save saves what the list shows, null for an API token
 */
export function viewMenu({ key, read }, changed, save) {
  const view = read();
  const item = (label, changes) => ({
    label,
    action() {
      window.localStorage.setItem(key, JSON.stringify({ ...view, ...changes }));
      changed();
    },
  });
  return menu('', 'menu-view', [
    ...save ? [{ label: 'Save this view…', action: save }] : [],
    item(view.isComfortable ? 'Compact rows' : 'Comfortable rows', { isComfortable: !view.isComfortable }),
    ...Object.entries(columns).map(([name, label]) => (view.hidden.includes(name) ? item(`Show ${label}`, { hidden: view.hidden.filter((one) => one !== name) })
      : item(`Hide ${label}`, { hidden: [...view.hidden, name] }))),
  ], 'View');
}
