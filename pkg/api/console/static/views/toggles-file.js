// The file of the toggles that match the filters of the list.

import { csv } from '../csv.js';
import { counted } from '../dom.js';
import { downloadFile } from '../download.js';
import { loadToggles } from '../toggle.js';

const properties = ['name', 'project', 'type', 'description', 'createdAt', 'createdBy', 'owner', 'keepUntil', 'keepReason', 'stale', 'potentiallyStale', 'archived', 'lastSeenAt'];

/** The state of a toggle in an environment. It has none in one that its project does not have. */
const shown = (state) => (state ? (state.enabled ? 'on' : 'off') : '');

/** Downloads the toggles of a list, with its state, and says so. */
export async function saveToggles({ filters, page, environments }, { signal, announce }) {
  const toggles = [];
  announce('Loading the toggles…');
  try {
    await loadToggles(filters, page.total, signal, (some) => toggles.push(...some));
  } catch (error) {
    if (!signal.aborted) announce(`The toggles cannot be downloaded. ${error.message}`);
    return;
  }
  toggles.sort((a, b) => (a.name < b.name ? -1 : 1));
  const columns = environments.map(({ name }) => name);
  downloadFile('toggles.csv', csv([[...properties, ...columns], ...toggles.map((toggle) => [
    ...properties.map((name) => (['createdBy', 'owner'].includes(name) ? toggle[name]?.name : toggle[name])),
    ...columns.map((name) => shown(toggle.environments.find((one) => one.name === name)))])]));
  announce(`toggles.csv was downloaded: ${counted(toggles.length, 'toggle')}.`);
}
