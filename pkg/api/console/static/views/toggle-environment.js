// The panel of a toggle in an environment: its use, its strategies, and the differences to other environments.

import { differences } from '../compare.js';
import { counted } from '../dom.js';
import { environmentAddress, environmentName } from '../environment.js';
import { menu } from '../menu.js';
import { recentUse } from '../recent-use.js';
import { segmentNames } from '../segment.js';
import { strategyAddress, strategyLabels } from '../strategy.js';
import { html, nothing, repeat } from '../template.js';
import { labelFor, offered, wayOf } from '../why.js';
import { dependencyWords, strategyWords, variantWords } from '../words.js';
import { strategyChanges } from './toggle-strategies.js';

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {() => void} draw
 * @returns {(item: Object) => unknown} the template of an environment of the toggle
 */
export function environmentPanel(state, context, draw) {
  /** What a change of strategies needs, see why.js. */
  const need = (permission, { name }, to) => ({
    permission, project: state.toggle.project, environment: name, places: [{ project: state.toggle.project, environment: { name } }], to: `${to} of ${state.toggle.name} in ${name}`,
  });
  /** How the caller can do what needs a permission in an environment, see `wayOf`. */
  const way = (permission, item) => wayOf(need(permission, item, ''), context);
  const { reorder, copy, copyAll, replace, setDisabled, remove } = strategyChanges(state, context, draw);
  return template;

  function template(item) {
    const { toggle } = state;
    const { strategies } = item;
    const creates = way('CREATE_FEATURE_STRATEGY', item);
    const sources = creates ? toggle.environments.filter((other) => other !== item && other.strategies.length > 0) : [];
    return html`<section class="environment-panel" aria-label=${item.name} aria-busy=${state.busy ? 'true' : nothing}>
      <h2>${environmentName(item)}</h2>
      ${state.recent ? recentUse(state.recent, item) : html`<p class="detail recent-use">\u00a0</p>`}
      ${toggle.dependencies.map((parent) => html`<p class="detail">Only if <bdi>${dependencyWords(parent)}</bdi>.</p>`)}
      ${strategies.length === 0 ? html`<p class="empty">There are no strategies. ${item.enabled ? nothing : 'Turned on, it is on for everyone.'}</p>` : html`
        <p class="detail">${item.enabled ? 'On if one of these holds, otherwise off:' : 'Off. Turned on, it is on if one of these holds:'}</p>
        <ol class="strategies">${repeat(strategies, (strategy) => strategy.id, (strategy, i) => card(strategy, i, item))}</ol>`}
      <div class="buttons">
        ${offered(need('CREATE_FEATURE_STRATEGY', item, 'add strategies'), context, 'Add strategy', (label) => html`<a class="button" href=${strategyAddress(toggle, item.name)}>${label}</a>`)}
        ${sources.length > 1 ? menu('', 'menu-copy', sources.map((source) => ({ label: source.name, action: () => copyAll(source, item) })), labelFor(creates, 'Copy from'))
    : sources.map((source) => html`<button type="button" @click=${() => copyAll(source, item)}>${labelFor(creates, `Copy from ${source.name}`)}</button>`)}
      </div>
      ${comparison(item)}
    </section>`;
  }

  /** The differences to the other environments in numbers, and to one of them in words. */
  function comparison(item) {
    const { toggle, compared } = state;
    const others = toggle.environments.filter((other) => other !== item && (other.strategies.length > 0 || item.strategies.length > 0));
    if (others.length === 0) return nothing;
    const other = others.find(({ name: of }) => of === compared);
    return html`<section class="compared" aria-label="Compare">
      <h3>Compare</h3>
      <ul class="values">${others.map((to) => {
    const count = differences(item.strategies, to.strategies).length;
    return html`<li><a data-here href="${environmentAddress(toggle, item.name)}?${new URLSearchParams({ compare: to.name })}" aria-current=${
      to === other ? 'true' : nothing}><bdi>${to.name}</bdi>: ${count === 0 ? 'the same strategies' : counted(count, 'difference')}</a></li>`;
  })}</ul>
      ${other ? html`<ul class="strategies">${differences(item.strategies, other.strategies).map((difference) => differenceCard(difference, item, other))}</ul>` : nothing}
    </section>`;
  }

  /** @param {{here?: Object, there?: Object, changed: string[]}} difference */
  function differenceCard({ here, there, changed }, item, other) {
    const words = (strategy) => html`<bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${
      strategy.variants.length > 0 ? html` <span class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></span>` : nothing}${
      strategy.disabled ? ' (disabled)' : nothing}`;
    const button = (permission, where, label, action) => (way(permission, where) === '' ? nothing
      : html`<button type="button" @click=${action}>${labelFor(way(permission, where), label)}</button>`);
    return html`<li><div>
      ${here && there ? html`<ul class="values" aria-label="Different">${changed.map((property) => html`<li>${strategyLabels[property]}</li>`)}</ul>` : nothing}
      ${here ? html`<p>${there ? `In ${item.name}: ` : `Only in ${item.name}: `}${words(here)}</p>` : nothing}
      ${there ? html`<p>${here ? `In ${other.name}: ` : `Only in ${other.name}: `}${words(there)}</p>` : nothing}</div>
      <div class="row-buttons">
        ${here && there ? button('UPDATE_FEATURE_STRATEGY', item, `Replace with that of ${other.name}`, () => replace(here, there, item, other)) : nothing}
        ${here ? nothing : button('CREATE_FEATURE_STRATEGY', item, `Copy to ${item.name}`, () => copy(there, item))}
        ${there ? nothing : button('CREATE_FEATURE_STRATEGY', other, `Copy to ${other.name}`, () => copy(here, other))}
      </div></li>`;
  }

  function card(strategy, i, item) {
    const { strategies } = item;
    const updates = way('UPDATE_FEATURE_STRATEGY', item);
    const others = cardActions(strategy, item);
    const position = `strategy ${i + 1} in ${item.name}`;
    const move = (step, arrow, label) => html`<button type="button" id="move-${step}-${strategy.id}" aria-label="${updates === 'ask' ? 'Ask for: ' : ''}${label} ${position}"
      aria-disabled=${strategies[i + step] ? nothing : 'true'} @click=${() => strategies[i + step] && reorder(item, i, step)}>${arrow}</button>`;
    return html`<li class=${strategy.disabled ? 'disabled' : nothing}>
      <div>
        ${strategy.title ? html`<h3><bdi>${strategy.title}</bdi></h3>` : nothing}
        <p><bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${strategy.disabled ? html` <span class="badge quiet">Disabled</span>` : nothing}</p>
        ${strategy.variants.length > 0 ? html`<p class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></p>` : nothing}
      </div>
      <div class="row-buttons">
        ${updates && strategies.length > 1 ? [move(-1, '↑', 'Move up'), move(1, '↓', 'Move down')] : nothing}
        ${offered(need('UPDATE_FEATURE_STRATEGY', item, 'edit strategies'), context, html`Edit<span class="visually-hidden"> ${position}</span>`,
    (label) => html`<a class="button" href=${strategyAddress(state.toggle, item.name, strategy.id)}>${label}</a>`)}
        ${others.length > 0 ? menu(`Actions of ${position}`, `menu-${strategy.id}`, others) : nothing}
      </div>
    </li>`;
  }

  function cardActions(strategy, item) {
    const action = (permission, where, label, options) => (way(permission, where) === '' ? [] : [{ label: labelFor(way(permission, where), label), ...options }]);
    return [
      ...action('UPDATE_FEATURE_STRATEGY', item, strategy.disabled ? 'Enable' : 'Disable', { action: () => setDisabled(strategy, item) }),
      ...state.toggle.environments.filter((other) => other !== item)
        .flatMap((other) => action('CREATE_FEATURE_STRATEGY', other, `Copy to ${other.name}`, { action: () => copy(strategy, other) })),
      ...action('DELETE_FEATURE_STRATEGY', item, 'Delete', { danger: true, action: () => remove(strategy, item) }),
    ];
  }
}
