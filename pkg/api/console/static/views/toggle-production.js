// How often applications used a toggle in production in the last 24 hours, with a mark at each change there.

import { reportHint } from '../client-token.js';
import { counted } from '../dom.js';
import { environmentName, isProduction } from '../environment.js';
import { searchEvents } from '../event-search.js';
import { sentence } from '../event-words.js';
import { html, nothing } from '../template.js';
import { exactTime, timeOfDay } from '../time.js';
import { lastUsed, toggleAddress } from '../toggle.js';
import { byTime, firstDay, sparkline } from '../usage-counts.js';

const size = { width: 960, height: 40 };
const mostEvents = 100;
const shown = 3; // changes in words

/** Loads the events of a toggle since yesterday, the newest first. */
export const loadChanges = async ({ name }, signal) => (await searchEvents({ feature: name, from: firstDay(1, Date.now()) }, signal, mostEvents)).events;

/**
 * The use of each environment of the type production. It has the same height while the usage is loading: what is below must not move while
 * someone clicks on it.
 * @param {{toggle: Object, types: Array, recent: Array|null, changes: Array}} state `recent` is the usage of 24 hours, null while it is loading
 * @param {{may: (permission: string) => boolean}} context of the page
 */
export function productionUse({ toggle, types, recent, changes }, { may }) {
  const typeName = (id) => types.find((type) => type.id === id)?.name ?? id;
  return toggle.environments.filter(isProduction).map((environment) => {
    const { size: hour, parts } = byTime((recent ?? []).filter((used) => used.environment === environment.name), 1, Date.now());
    const asked = parts.reduce((sum, { yes, no }) => sum + yes + no, 0);
    const marked = changes.filter((event) => event.environment === environment.name && Date.parse(event.createdAt) >= parts[0].start);
    const at = ({ createdAt }) => Math.round(size.width * (Date.parse(createdAt) - parts[0].start) / (hour * parts.length));
    const label = `${environment.name}: ${counted(asked, 'evaluation')} and ${counted(marked.length, 'change')} in 24 hours`;
    const unused = asked === 0 && (recent || !environment.lastSeenAt);
    return html`<section class="production-use" aria-label="Use of ${environment.name}">
      <p class="detail">${environmentName(environment)}${unused ? ': not used in 24 hours' : recent ? `: ${counted(asked, 'evaluation')} in 24 hours` : nothing}</p>
      ${unused ? html`<p class="detail ${environment.lastSeenAt ? 'before' : 'unused'}">${environment.lastSeenAt ? html`Last used ${lastUsed(environment)}.`
    : html`No application has used it in ${environment.name} yet. ${reportHint(may, { project: toggle.project, environment: environment.name })}`}</p>` : html`<svg class="recent-line" viewBox="0 0 ${size.width} ${size.height}" preserveAspectRatio="none" role="img" aria-label=${label}>
        <path d=${sparkline(parts, size.width, size.height)}></path>
        <path class="changes" d=${marked.map((event) => `M${at(event)} 0V${size.height}`).join('')}></path></svg>`}
      <ul class="detail">${marked.slice(0, shown).map((event) => html`<li>
        <time datetime=${event.createdAt} title=${exactTime(event.createdAt)}>${timeOfDay(event.createdAt)}</time> ${inOne(sentence({ ...event, environment: null }, typeName))}</li>`)}
        ${marked.length > shown ? html`<li><a data-here href="${toggleAddress(toggle)}?tab=history">${marked.length - shown} more</a></li>` : nothing}</ul>
    </section>`;
  });
}

/** The sentence without the name of the toggle, which is long, and without the environment: both are above it. */
const inOne = ({ who, before, subject, after }) => [who, before, subject && 'the toggle', after].filter(Boolean).join(' ').replace(' ,', ',');
