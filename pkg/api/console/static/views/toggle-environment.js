// The panel of a toggle in an environment: its switch, its strategies, and the differences to other environments.

import { differences } from '../compare.js';
import { counted } from '../dom.js';
import { environmentAddress, environmentName, switchNeed, toggleSwitch } from '../environment.js';
import { menu } from '../menu.js';
import { recentUse } from '../recent-use.js';
import { segmentNames } from '../segment.js';
import { strategyAddress, strategyLabels } from '../strategy.js';
import { html, nothing, repeat } from '../template.js';
import { allowed, lockedSwitch } from '../why.js';
import { dependencyWords, strategyWords, variantWords } from '../words.js';
import { turn } from './switching.js';
import { strategyChanges } from './toggle-strategies.js';

/**
 * @param {Object} state that of the page of the toggle
 * @param {Object} context of the page
 * @param {() => void} draw
 * @returns {(item: Object) => unknown} the template of an environment of the toggle
 */
export function environmentPanel(state, context, draw) {
  const { may } = context;
  /** What a change of strategies needs, see why.js. */
  const need = (permission, { name }, to) => ({ permission, project: state.toggle.project, environment: name, to: `${to} of ${state.toggle.name} in ${name}` });
  const { reorder, copy, copyAll, replace, setDisabled, remove } = strategyChanges(state, context, draw);
  return template;

  function template(item) {
    const { toggle } = state;
    const { strategies } = item;
    const mayCreate = may('CREATE_FEATURE_STRATEGY', toggle.project, item.name);
    const sources = mayCreate ? toggle.environments.filter((other) => other !== item && other.strategies.length > 0) : [];
    return html`<section class="environment-panel" aria-label=${item.name} aria-busy=${state.busy ? 'true' : nothing}>
      <div class="title">
        <h2>${environmentName(item)}</h2>
        <div class="on">${toggle.archived ? item.enabled ? 'on' : 'off' : !may('UPDATE_FEATURE_ENVIRONMENT', toggle.project, item.name)
  ? lockedSwitch(switchNeed(toggle, item), context, `${toggle.name} in ${item.name}`, item.enabled) : toggleSwitch({
    label: `${toggle.name} in ${item.name}`, on: item.enabled, busy: state.busy,
    change: () => turn(toggle, item, !item.enabled, context, (busy, now = item.enabled) => {
      state.busy = busy;
      item.enabled = now;
      draw();
    }),
  })}</div>
      </div>
      ${state.recent ? recentUse(state.recent, item) : html`<p class="detail recent-use">\u00a0</p>`}
      ${toggle.dependencies.map((parent) => html`<p class="detail">Only if <bdi>${dependencyWords(parent)}</bdi>.</p>`)}
      ${strategies.length === 0 ? html`<p class="empty">There are no strategies. ${item.enabled ? nothing : 'Turned on, it is on for everyone.'}</p>` : html`
        <p class="detail">${item.enabled ? 'On if one of these holds, otherwise off:' : 'Off. Turned on, it is on if one of these holds:'}</p>
        <ol class="strategies">${repeat(strategies, (strategy) => strategy.id, (strategy, i) => card(strategy, i, item))}</ol>`}
      <div class="buttons">
        ${allowed(need('CREATE_FEATURE_STRATEGY', item, 'add strategies'), context, 'Add strategy', html`<a class="button" href=${strategyAddress(toggle, item.name)}>Add strategy</a>`)}
        ${sources.length > 1 ? menu('', 'menu-copy', sources.map((source) => ({ label: source.name, action: () => copyAll(source, item) })), 'Copy from')
    : sources.map((source) => html`<button type="button" @click=${() => copyAll(source, item)}>Copy from ${source.name}</button>`)}
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
    const { toggle } = state;
    const words = (strategy) => html`<bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${
      strategy.variants.length > 0 ? html` <span class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></span>` : nothing}${
      strategy.disabled ? ' (disabled)' : nothing}`;
    const button = (label, action) => html`<button type="button" @click=${action}>${label}</button>`;
    const mayReplace = may('UPDATE_FEATURE_STRATEGY', toggle.project, item.name) && here && there;
    const mayCreate = ({ name }) => may('CREATE_FEATURE_STRATEGY', toggle.project, name);
    return html`<li><div>
      ${here && there ? html`<ul class="values" aria-label="Different">${changed.map((property) => html`<li>${strategyLabels[property]}</li>`)}</ul>` : nothing}
      ${here ? html`<p>${there ? `In ${item.name}: ` : `Only in ${item.name}: `}${words(here)}</p>` : nothing}
      ${there ? html`<p>${here ? `In ${other.name}: ` : `Only in ${other.name}: `}${words(there)}</p>` : nothing}</div>
      <div class="row-buttons">
        ${mayReplace ? button(`Replace with that of ${other.name}`, () => replace(here, there, item, other)) : nothing}
        ${mayCreate(item) && !here ? button(`Copy to ${item.name}`, () => copy(there, item)) : nothing}
        ${mayCreate(other) && !there ? button(`Copy to ${other.name}`, () => copy(here, other)) : nothing}
      </div></li>`;
  }

  function card(strategy, i, item) {
    const { strategies } = item;
    const mayUpdate = may('UPDATE_FEATURE_STRATEGY', state.toggle.project, item.name);
    const others = cardActions(strategy, item);
    const position = `strategy ${i + 1} in ${item.name}`;
    const move = (step, arrow, label) => html`<button type="button" id="move-${step}-${strategy.id}" aria-label="${label} ${position}"
      aria-disabled=${strategies[i + step] ? nothing : 'true'} @click=${() => strategies[i + step] && reorder(item, i, step)}>${arrow}</button>`;
    return html`<li class=${strategy.disabled ? 'disabled' : nothing}>
      <div>
        ${strategy.title ? html`<h3><bdi>${strategy.title}</bdi></h3>` : nothing}
        <p><bdi>${strategyWords(strategy, segmentNames(state.segments))}</bdi>${strategy.disabled ? html` <span class="badge quiet">Disabled</span>` : nothing}</p>
        ${strategy.variants.length > 0 ? html`<p class="detail">Variants: <bdi>${variantWords(strategy.variants)}</bdi></p>` : nothing}
      </div>
      <div class="row-buttons">
        ${mayUpdate && strategies.length > 1 ? [move(-1, '↑', 'Move up'), move(1, '↓', 'Move down')] : nothing}
        ${allowed(need('UPDATE_FEATURE_STRATEGY', item, 'edit strategies'), context, html`Edit<span class="visually-hidden"> ${position}</span>`,
    html`<a class="button" href=${strategyAddress(state.toggle, item.name, strategy.id)}>Edit<span class="visually-hidden"> ${position}</span></a>`)}
        ${others.length > 0 ? menu(`Actions of ${position}`, `menu-${strategy.id}`, others) : nothing}
      </div>
    </li>`;
  }

  function cardActions(strategy, item) {
    const { toggle } = state;
    const { project } = toggle;
    return [
      ...may('UPDATE_FEATURE_STRATEGY', project, item.name) ? [{ label: strategy.disabled ? 'Enable' : 'Disable', action: () => setDisabled(strategy, item) }] : [],
      ...toggle.environments.filter((other) => other !== item && may('CREATE_FEATURE_STRATEGY', project, other.name)).map((other) => ({
        label: `Copy to ${other.name}`, action: () => copy(strategy, other),
      })),
      ...may('DELETE_FEATURE_STRATEGY', project, item.name) ? [{ label: 'Delete', danger: true, action: () => remove(strategy, item) }] : [],
    ];
  }
}
