// The comparison of two environments of a project: the toggles whose switches or strategies differ. The address has the environments:
// `#/projects/PROJECT/compare?from=ENVIRONMENT&to=ENVIRONMENT`.

import { call } from '../api.js';
import { differences } from '../compare.js';
import { counted, failure, loading, text } from '../dom.js';
import { environmentAddress, environmentName, isProduction, loadEnvironments } from '../environment.js';
import { listView } from '../list.js';
import { comparisonAddress, projectAddress, projectPath } from '../project.js';
import { marked } from '../search.js';
import { loadSegments, segmentNames } from '../segment.js';
import { strategyLabels } from '../strategy.js';
import { denseTable } from '../table.js';
import { html, live, nothing, render as show } from '../template.js';
import { stateSentence } from '../words.js';

const mostLists = 4; // that the page reads without a question. Each has at most 5 MB

export async function renderComparison(content, context, id) {
  const { search, signal, setTitle, setPath } = context;
  const state = {
    environments: [], // those of the project, in their order
    from: search.get('from'), to: search.get('to'), // the names of two of them
    segments: [],
    rows: [], // `{toggle, isSwitched, strategies}`: whether the switch differs, and the differences of the strategies
    lists: 0, // read since the last question
    isComplete: false, // all toggles were read
    error: null,
  };
  const pathOf = (name) => setPath(html`<a href="#/projects">Projects</a>`, html`<a href=${projectAddress(id)}>${text(name)}</a>`);
  setTitle('Compare environments');
  pathOf(id);
  show(loading('the environments'), content);
  const [project, environments, segments] = await Promise.all([
    call('GET', `${projectPath(id)}/overview`, undefined, { signal }),
    loadEnvironments(signal),
    loadSegments(signal).catch(() => []), // without their names, sentences have their numbers
  ]);
  pathOf(project.name);
  const names = new Set(project.environments.map(({ environment }) => environment));
  state.environments = environments.filter(({ name }) => names.has(name));
  state.segments = segments;
  if (state.environments.length < 2) {
    show(html`<p class="empty">The project has ${counted(state.environments.length, 'environment')}. A comparison needs two.
      <a href=${projectAddress(id, 'environments')}>Show its environments</a>.</p>`, content);
    return;
  }
  chooseDefault();
  const list = listView({
    content,
    search,
    address: comparisonAddress(id),
    kept: () => ({ from: state.from, to: state.to }),
    item: 'toggle',
    placeholder: 'Search names',
    texts: ({ toggle }) => [toggle.name],
    tabs: { name: 'list', label: 'Differences', choices: () => [
      { value: '', label: 'Different', test: isDifferent },
      { value: 'switch', label: 'Switch', test: ({ isSwitched }) => isSwitched },
      { value: 'strategies', label: 'Strategies', test: ({ strategies }) => strategies.length > 0 },
      { value: 'all', label: 'All' },
    ] },
    orders: { name: { label: 'Name', compare: (a, b) => a.toggle.name.localeCompare(b.toggle.name, 'en') } },
    order: { sortBy: 'name', sortOrder: 'asc' },
    none: ({ query, list: of = '' }) => (query || of === 'all' ? 'No toggle matches the search' : `No toggle differs between ${state.from} and ${state.to}`),
    all: { list: 'all' },
    draw,
  });
  await load();

  /** Without names in the address, or with other ones, production is compared with the environment before it. */
  function chooseDefault() {
    const known = (name) => state.environments.some((one) => one.name === name);
    if (known(state.from) && known(state.to) && state.from !== state.to) return;
    const i = Math.max(1, state.environments.findIndex(isProduction));
    Object.assign(state, { from: state.environments[i - 1].name, to: state.environments[i].name });
  }

  /** Reads the toggles that were not read yet. */
  async function load() {
    Object.assign(state, { lists: 0, error: null });
    draw();
    try {
      while (!state.isComplete && state.lists < mostLists) {
        const last = state.rows.at(-1)?.toggle.name;
        const { features, more = false } = await call('GET', `${projectPath(id)}/features?${new URLSearchParams({ full: 'true', ...last !== undefined && { after: last } })}`,
          undefined, { signal });
        state.rows.push(...features.map(({ name, environments: all }) => compared({ project: id, name, environments: all })));
        state.isComplete = !more;
        state.lists += 1;
        draw();
      }
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
      draw();
    }
  }

  function compared(toggle) {
    const [from, to] = [state.from, state.to].map((name) => stateIn(toggle, name));
    return { toggle, isSwitched: from.enabled !== to.enabled, strategies: differences(from.strategies, to.strategies) };
  }

  /** Compares with another environment. The one that is on the other side changes places with it. */
  function choose(side, name) {
    const other = side === 'from' ? 'to' : 'from';
    if (state[other] === name) state[other] = state[side];
    state[side] = name;
    state.rows = state.rows.map(({ toggle }) => compared(toggle));
    list.keepAddress();
  }

  function draw() {
    if (signal.aborted) return;
    show(html`
      <div class="sides">${choice('from', 'Compare')}${choice('to', 'with')}</div>
      ${state.rows.length === 0 && !state.isComplete ? nothing
    : list.template(state.rows, table, html`<p class="empty">The project has no toggles.</p>`)}
      ${rest()}`, content);
  }

  function rest() {
    if (state.error) return failure(state.error, load);
    if (state.isComplete) return nothing;
    if (state.lists < mostLists) return state.rows.length === 0 ? loading('the toggles') : html`<p class="detail" role="status">Comparing more toggles…</p>`;
    return html`<p class="notice">The first ${counted(state.rows.length, 'toggle')} by name are compared. The project has more.
      <button type="button" @click=${load}>Compare more</button></p>`;
  }

  function choice(side, label) {
    return html`<label>${label} <select name=${side} @change=${({ target }) => choose(side, target.value)}>${state.environments.map((environment) => html`
      <option value=${environment.name} .selected=${live(environment.name === state[side])}>${markedName(environment)}</option>`)}</select></label>`;
  }

  function environmentOf(name) {
    return state.environments.find((one) => one.name === name);
  }

  function table(rows, { order, sort, query }) {
    const [from, to] = [state.from, state.to];
    const column = (name) => ({ name: markedName(environmentOf(name)), head: environmentName(environmentOf(name)), kind: 'sentence', cell: ({ toggle }) => sentence(stateIn(toggle, name)) });
    return denseTable({
      caption: `Toggles in ${from} and ${to}`,
      kind: 'comparison',
      columns: [
        { name: 'Name', compare: true, cell: ({ toggle }) => html`<div class="named"><a href="${environmentAddress(toggle, from)}?${
          new URLSearchParams({ compare: to })}" title=${toggle.name}>${marked(toggle.name, query)}</a></div>` },
        column(from), column(to),
        { name: 'Differs in', cell: different },
      ],
      items: rows,
      key: ({ toggle }) => toggle.name,
      order,
      sort,
    });
  }

  function sentence(item) {
    const words = stateSentence(item, segmentNames(state.segments));
    return html`<p title=${words}><bdi>${words}</bdi></p>`;
  }

  /** What differs: the switch, properties of strategies, and strategies that one environment has alone. */
  function different({ isSwitched, strategies }) {
    const alone = (side, name) => {
      const count = strategies.filter((one) => !one[side]).length;
      return count > 0 && `${counted(count, 'strategy', 'strategies')} only in ${name}`;
    };
    const parts = [
      isSwitched && 'Switch',
      ...new Set(strategies.flatMap(({ changed }) => changed).map((property) => strategyLabels[property])),
      alone('there', state.from), alone('here', state.to),
    ].filter(Boolean);
    return parts.length > 0 ? html`<p title=${parts.join(', ')}>${parts.join(', ')}</p>` : html`<span class="detail">Nothing</span>`;
  }
}

/** The name of an environment as a text, with the mark of production. */
const markedName = (environment) => `${isProduction(environment) ? '● ' : ''}${environment.name}`;

const isDifferent = ({ isSwitched, strategies }) => isSwitched || strategies.length > 0;

/** The state of a toggle in an environment, which a project can have got after the toggle was read. */
const stateIn = ({ environments }, name) => environments.find((item) => item.name === name) ?? { enabled: false, strategies: [] };
