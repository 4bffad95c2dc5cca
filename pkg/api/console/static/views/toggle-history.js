// The history of a toggle: what happened to it, from the event log.

import { failure, loading, logAddress } from '../dom.js';
import { eventList, haveSegments } from '../event-list.js';
import { searchEvents } from '../event-search.js';
import { loadSegments, segmentNames } from '../segment.js';
import { html, nothing } from '../template.js';
import { undoOf } from './undo.js';

const shownEvents = 20;

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {{draw: () => void, reload: () => Promise<void>}} page
 */
export function toggleHistory(state, context, { draw, reload }) {
  const { may, signal, announce } = context;
  const events = eventList({ may, signal, undo: (event) => [undoOf(event, context, reload)] }, draw);
  return { load, template };

  async function load() {
    state.history = await searchEvents({ feature: state.toggle.name }, signal, shownEvents);
    await nameSegments();
  }

  /** Loads the segments that the events of the history need, which otherwise have numbers. */
  async function nameSegments() {
    if (!state.segments?.length && haveSegments(state.history.events)) state.segments = await loadSegments(signal);
  }

  /** Loads the events before those that the history shows. */
  async function loadOlder() {
    try {
      const older = await searchEvents({ feature: state.toggle.name, cursor: state.history.next }, signal, shownEvents);
      state.history = { events: [...state.history.events, ...older.events], next: older.next };
      await nameSegments();
    } catch (error) {
      if (!signal.aborted) announce(`The events cannot be loaded. ${error.message}`);
    }
    draw();
  }

  function template() {
    return html`<section class="history" aria-label="History"><h2 class="visually-hidden">History</h2>
      ${state.error ? failure(state.error, reload) : !state.history ? loading('the history')
    : state.history.events.length === 0 ? html`<p class="empty">The event log has nothing about this toggle. It keeps events for a limited time.</p>`
      : events.template(state.history.events, { type: typeName, segment: segmentNames(state.segments) })}
      ${state.history?.next ? html`<div class="buttons"><button type="button" @click=${loadOlder}>Older events</button></div>` : nothing}
      ${may('ADMIN') ? html`<p><a href=${logAddress({ feature: state.toggle.name })}>All events in the event log</a></p>` : nothing}
    </section>`;
  }

  function typeName(type) {
    return state.types.find((item) => item.id === type)?.name ?? type;
  }
}
