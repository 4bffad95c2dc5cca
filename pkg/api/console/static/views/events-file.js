// The file of the events that match the filters of the log.

import { csv } from '../csv.js';
import { counted } from '../dom.js';
import { downloadFile } from '../download.js';
import { searchEvents } from '../event-search.js';
import { selection } from './events-filters.js';

const most = 10_000; // events in a file

/** Downloads the events that match filters, as far as they fit, and says so. */
export async function saveEvents({ offset, cursor, ...filters }, { signal, announce }) {
  const events = [];
  try {
    announce('Loading the events…');
    for (let next; events.length < most;) {
      const page = await searchEvents(selection({ ...filters, cursor: next }), signal, 1000);
      events.push(...page.events);
      ({ next } = page);
      if (!next) break;
    }
  } catch (error) {
    if (!signal.aborted) announce(`The events cannot be downloaded. ${error.message}`);
    return;
  }
  const columns = ['createdAt', 'type', 'subject', 'createdBy', 'createdByUserId', 'createdByTokenId', 'createdByKind', 'project', 'environment', 'summary', 'reason', 'preData', 'data', 'requestId', 'id'];
  const cell = (value) => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value);
  downloadFile('events.csv', csv([columns, ...events.slice(0, most).map((event) => columns.map((name) => cell(event[name])))]));
  announce(events.length >= most ? `events.csv has the newest ${most.toLocaleString('en')} events.` : `events.csv was downloaded: ${counted(events.length, 'event')}.`);
}
