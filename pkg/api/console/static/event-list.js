// Events as a list, in the event log and in histories: one line each, which opens to what has changed.

import { requestAddress } from './change-request.js';
import { failure, loading, logAddress } from './dom.js';
import { author, effectFilters, searchEvents } from './event-search.js';
import { changedNames, inline, labels, sentence, subjectParts, subjectWords, summary } from './event-words.js';
import { menu } from './menu.js';
import { segmentAddress } from './segment.js';
import { html, nothing, repeat } from './template.js';
import { exactTime, shortTime } from './time.js';
import { toggleAddress } from './toggle.js';

const shownElements = 12; // of a list of values
const shownEffects = 50;
const countedAtOnce = 5; // changes whose effects are counted before somebody asks for them
const settled = 60_000; // after this time, in milliseconds, the service has re-evaluated all toggles

/** The filter of what a subject did, by its kind. */
const didFilters = { account: 'createdBy', user: 'createdBy', pat: 'token', 'api-token': 'token' };

const toggleText = (count) => (count === '1' ? '1 toggle' : `${count} toggles`);

/**
 * @param {{may: (permission: string) => boolean, signal: AbortSignal, undo?: (event: Object, events: Object[]) => Array<?{label: string, action: () => void}>}} context
 *   of the page; `undo` is what reverses an event, one of those that the list has, if anything does
 * @param {() => void} draw called after each change of what the list shows
 * @returns {{template: (events: Array, names?: {type?: (id: string) => string, segment?: (id: number) => string}) => Object, count: (events: Array) => Promise<void>}} `count` finds
 *   out how many toggles the changes of lifetimes among some events have affected
 */
export function eventList({ may, signal, undo = () => [] }, draw) {
  const open = new Set(); // ids of events
  const effects = new Map(); // of changes of lifetimes, by their id: {count, events, error, isOpen}
  let listed = []; // events
  let nameOf = (id) => id;
  let segmentName = (id) => `number ${id}`;
  const linked = may('ADMIN'); // the event log is for them
  return { template, count };

  function template(events, { type = nameOf, segment = segmentName } = {}) {
    listed = events;
    nameOf = type;
    segmentName = segment;
    return html`<ol class="events">${repeat(events, ({ id }) => id, item)}</ol>`;
  }

  function item(event) {
    const isOpen = open.has(event.id);
    const more = summary(event, nameOf, segmentName);
    const effect = event.type === 'feature-type-updated' && linked ? effectButton(event) : nothing;
    return html`<li class=${isOpen ? 'open' : nothing}>
      <div class="event" @click=${(click) => click.target.closest('a, button, [popover]') || String(window.getSelection()) !== '' || toggle(event)}>
        <button type="button" class="opener" aria-label="Details" aria-describedby="event-${event.id}" aria-expanded=${isOpen ? 'true' : 'false'}
          @click=${() => toggle(event)}><span aria-hidden="true">▸</span></button>
        <p id="event-${event.id}">${words(event)}</p>
        <div class="line">${when(event.createdAt)}${effect}${more ? html`<bdi class="detail">${more}</bdi>` : nothing}</div>
        ${event.reason ? html`<p class="reason">Reason: <bdi>${event.reason}</bdi></p>` : nothing}
        ${actions(event)}
      </div>
      ${effects.get(event.id)?.isOpen ? effectList(event) : nothing}
      ${isOpen ? details(event) : nothing}
    </li>`;
  }

  function toggle({ id }) {
    if (!open.delete(id)) open.add(id);
    draw();
  }

  function words(event) {
    const { who, before, subject, after } = sentence(event, nameOf);
    const address = subjectAddress(event);
    const name = html`<bdi>${subject}</bdi>`;
    return html`${who ? html`<strong><bdi>${who}</bdi></strong>${isAccount(event) ? ' (service account)' : nothing} ` : nothing}${before}${subject === '' ? nothing
      : html` ${address ? html`<a href=${address}>${name}</a>` : name}`}${after ? ` ${after}` : nothing}${cause(event)}`;
  }

  /** The change request that an event comes from. */
  function cause({ subject, project, changeRequestId: id }) {
    return !id || subjectParts(subject)[0] === 'change-request' ? nothing : html`, by <a href=${requestAddress({ project, id })}>change request ${id}</a>`;
  }

  function actions(event) {
    const [kind, id] = subjectParts(event.subject);
    const by = author(event);
    const items = [
      ...undo(event, listed).filter(Boolean),
      ...linked ? [
        { label: `What ${event.createdBy} did`, href: logAddress(by) },
        { label: `History of ${subjectWords(event.subject, nameOf)}`, href: logAddress(kind === 'toggle' ? { feature: id } : { subject: event.subject }) },
      ] : [],
    ];
    return items.length > 0 ? html`<div class="more">${menu('Actions', `menu-${event.id}`, items)}</div>` : nothing;
  }

  /** What is in an event besides its sentence. */
  function details(event) {
    const [kind, id] = subjectParts(event.subject);
    const did = didFilters[kind];
    const link = (filters, label) => (linked ? html`<a href=${logAddress(filters)}><bdi>${label}</bdi></a>` : html`<bdi>${label}</bdi>`);
    const fact = (name, shown) => (shown ? html`<div><dt>${name}</dt><dd>${shown}</dd></div>` : nothing);
    return html`<div class="opened">
      ${changes(event, segmentName)}
      <dl class="facts">
        ${fact('By', html`${link(author(event), event.createdBy)}${isAccount(event) ? ' (service account)' : nothing}`)}
        ${fact('Token', event.createdByTokenId && link({ token: event.createdByTokenId }, `token ${event.createdByTokenId}`))}
        ${fact('About', link(kind === 'toggle' ? { feature: id } : { subject: event.subject }, subjectWords(event.subject)))}
        ${fact('Activity', did && linked && link({ [did]: id }, did === 'token' ? 'What was done with it' : 'What it did'))}
        ${fact('Project', event.project && link({ project: event.project }, event.project))}
        ${fact('Environment', event.environment && link({ environment: event.environment }, event.environment))}
        ${fact('Change request', event.changeRequestId && html`<a href=${requestAddress({ project: event.project, id: event.changeRequestId })}>${event.changeRequestId}</a>`)}
        ${fact('Cause', event.data?.causedBy && link({ id: event.data.causedBy }, 'Another lifetime of its type'))}
        ${fact('Time', html`<time datetime=${event.createdAt}>${event.createdAt.replace('T', ' ').replace('Z', ' UTC')}</time>`)}
        ${fact('Event', link({ id: event.id }, event.id))}
        ${fact('Request ID', event.requestId && html`<code><bdi>${event.requestId}</bdi></code>`)}
      </dl></div>`;
  }

  /** Counts the effects of the newest changes of lifetimes. Those of others are counted when somebody opens them. */
  async function count(events) {
    const changed = events.filter((event) => event.type === 'feature-type-updated' && linked && !(isSettled(event) && effects.has(event.id))).slice(0, countedAtOnce);
    for (const event of changed) await load(event, 1); // one after the other: each reads the events of a day
  }

  async function load(event, limit) {
    const known = effects.get(event.id);
    try {
      const { events, total, totalExact } = await searchEvents(effectFilters(event), signal, limit);
      effects.set(event.id, { ...known, count: events.length === 0 ? '0' : `${totalExact ? '' : 'more than '}${total.toLocaleString('en')}`,
        events: limit > 1 ? events : undefined, error: undefined, isOpen: effects.get(event.id)?.isOpen });
    } catch (error) {
      if (signal.aborted) return;
      effects.set(event.id, { ...effects.get(event.id), error });
    }
    draw();
  }

  function effectButton(event) {
    const effect = effects.get(event.id);
    if (effect?.count === '0' && isSettled(event)) return html`<span class="detail">No toggle changed its state</span>`;
    const isOn = effectFilters(event).type === 'feature-potentially-stale-on';
    const label = [undefined, '0'].includes(effect?.count) ? 'Toggles that it changed'
      : `${toggleText(effect.count)} ${isOn ? 'became overdue' : effect.count === '1' ? 'is no longer overdue' : 'are no longer overdue'}`;
    return html`<button type="button" class="effect-button" aria-expanded=${effect?.isOpen ? 'true' : 'false'} @click=${() => openEffects(event)}>${
      label}<span aria-hidden="true">▸</span></button>`;
  }

  async function openEffects(event) {
    const effect = effects.get(event.id) ?? {};
    effects.set(event.id, { ...effect, isOpen: !effect.isOpen });
    draw();
    if (!effect.isOpen && !effect.events) await load(event, shownEffects);
  }

  function effectList(event) {
    const { events, error, count: all } = effects.get(event.id);
    return html`<div class="opened">${error ? failure(error, () => load(event, shownEffects)) : !events ? loading('the toggles') : html`
      ${events.length === 0 ? html`<p class="detail">No toggle has changed its state yet.</p>` : nothing}
      <ul class="values">${events.map((effect) => html`<li><a href=${toggleAddress({ project: effect.project, name: effect.featureName })}><bdi>${
  effect.featureName}</bdi></a></li>`)}</ul>
      ${events.length > 0 ? html`<p><a href=${logAddress(effectFilters(event))}>${events.length < Number(all.replaceAll(',', '')) || all.startsWith('more')
    ? `All ${all} in the event log` : 'Show them in the event log'}</a></p>` : nothing}`}</div>`;
  }
}

const isSettled = ({ createdAt }) => Date.now() - Date.parse(createdAt) > settled;

const when = (at) => html`<time datetime=${at} title=${exactTime(at)}>${shortTime(at)}</time>`;

const isAccount = ({ createdByKind }) => createdByKind === 'service-account';

/** The address of the page of what an event is about, or undefined. */
function subjectAddress({ type, subject, project }) {
  const [kind, id] = subjectParts(subject);
  if (type.endsWith('-deleted') || type === 'change-request-discarded') return undefined;
  switch (kind) {
    case 'toggle': return project ? toggleAddress({ project, name: id }) : undefined;
    case 'field': return `#/context?${new URLSearchParams({ query: id })}`;
    case 'segment': return segmentAddress(id);
    case 'environment': return '#/environments';
    case 'type': return '#/types';
    case 'account': return '#/service-accounts';
    case 'change-request': return requestAddress({ project, id });
    default: return undefined;
  }
}

/** The values before and after, of which those that are the same are shown on demand, or the values of something new or deleted. */
function changes(event, segmentName) {
  const { data, preData } = withNames(event, segmentName);
  if (!data && !preData) return nothing;
  if (!preData || !data) {
    const values = data ?? preData;
    return changeTable(data ? 'Values' : 'Values before the deletion', Object.keys(values), ['Value'], (name) => [value(values[name], values[name])]);
  }
  const changed = changedNames({ data, preData });
  const same = Object.keys(data).filter((name) => !changed.includes(name));
  return html`
    ${changed.length > 0 ? changeTable('Before and after', changed, ['Before', 'After'],
    (name) => [value(preData[name], data[name], 'del'), value(data[name], preData[name], 'ins')]) : nothing}
    ${same.length > 0 ? html`<details class="plain"><summary>${same.length} unchanged</summary>
      ${changeTable('Unchanged', same, ['Value'], (name) => [value(data[name], data[name])])}</details>` : nothing}`;
}

/** Reports whether events are about strategies with segments, whose names `template` needs. */
export const haveSegments = (events) => events.some(({ data, preData }) => data?.segments?.length > 0 || preData?.segments?.length > 0);

/** An event whose segments have their names. */
function withNames(event, segmentName) {
  const named = (it) => (Array.isArray(it?.segments) ? { ...it, segments: it.segments.map((id) => (typeof id === 'number' ? segmentName(id) : id)) } : it);
  return { ...event, data: named(event.data), preData: named(event.preData) };
}

function changeTable(caption, names, columns, cells) {
  return html`<table role="table" class="changes ${columns.length === 2 ? 'both' : 'one'}">
    <caption class="visually-hidden">${caption}</caption>
    <thead role="rowgroup"><tr role="row">${['Property', ...columns].map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
    <tbody role="rowgroup">${names.map((name) => html`<tr role="row"><th role="rowheader" scope="row"><code>${name}</code></th>${
  cells(name).map((cell, i) => html`<td role="cell" data-label=${columns[i]}>${cell}</td>`)}</tr>`)}</tbody>
  </table>`;
}

/** A value. What `other` does not have is marked by an element of the kind `mark`. */
function value(it, other, mark) {
  const marked = (differs, content) => (!differs ? content : mark === 'del' ? html`<del>${content}</del>` : html`<ins>${content}</ins>`);
  const shown = (element) => html`<bdi>${inline(element)}</bdi>`;
  if (!Array.isArray(it) || it.length === 0) return marked(JSON.stringify(it) !== JSON.stringify(other), shown(it));
  const others = new Set(Array.isArray(other) ? other.map((element) => JSON.stringify(element)) : []);
  const elements = it.map((element) => ({ element, differs: !others.has(JSON.stringify(element)) }))
    .sort((a, b) => Number(b.differs) - Number(a.differs))
    .map(({ element, differs }) => html`<li>${marked(differs, shown(element))}</li>`);
  if (elements.length <= shownElements) return html`<ul class="values">${elements}</ul>`;
  return html`<ul class="values">${elements.slice(0, shownElements)}</ul>
    <details class="plain"><summary>${elements.length - shownElements} more</summary><ul class="values">${elements.slice(shownElements)}</ul></details>`;
}

/** The labels of the types of events, by type. */
export const typeLabels = Object.assign({}, ...Object.values(labels));
