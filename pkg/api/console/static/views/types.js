// Toggle types: their lifetimes, which change after a look at what the change does, and how many toggles they have.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { counted, failure, loading, logAddress, text, uniqueId } from '../dom.js';
import { changedSince } from '../restore.js';
import { denseTable, sorted } from '../table.js';
import { element, html, nothing, render as show } from '../template.js';
import { countToggles, forgetCounts, listAddress, noToggles } from '../toggle.js';

const day = 86_400_000;
const pause = 1000; // between two counts, in milliseconds
/** How many times in a row the number of toggles is the same when they are no longer re-evaluated, although others were expected. */
const settled = 10;
const never = Number.MAX_SAFE_INTEGER;

/**
 * The types whose toggles the service re-evaluates after a change in this tab, by id: the number of overdue ones that is expected, the latest
 * number, and how often it was the same. The user may come back to the page meanwhile.
 */
const changing = new Map();

export async function render(content, { may, signal, announce }) {
  const state = {
    types: null,
    counts: null, // numbers of toggles by type, see `countToggles`
    isUnknown: false, // the numbers cannot be loaded
    order: undefined, // see `denseTable`
    error: null,
  };
  let settling = false;
  return load();

  async function load() {
    state.error = null;
    draw();
    try {
      ({ types: state.types } = await call('GET', '/api/admin/feature-types', undefined, { signal }));
    } catch (error) {
      state.error = error;
    }
    if (signal.aborted) return;
    draw();
    await (changing.size > 0 ? settle() : count());
  }

  function draw() {
    show(html`
      <p class="lead">A toggle that is older than the lifetime of its type is overdue: it can probably be removed. A change takes effect for all
        toggles of the type within seconds.</p>
      ${state.error ? failure(state.error, load) : !state.types ? loading('the toggle types')
    : state.types.length === 0 ? html`<p class="empty">There are no toggle types. <code>toggleadmin init</code> creates them.</p>` : list()}`, content);
  }

  function list() {
    const columns = [
      { name: 'Type', compare: (a, b) => a.name.localeCompare(b.name, 'en'), cell: nameOf },
      { name: 'Lifetime', compare: (a, b) => (a.lifetimeDays ?? never) - (b.lifetimeDays ?? never), kind: 'number', cell: ({ lifetimeDays }) => inDays(lifetimeDays) },
      { name: 'Toggles', compare: by(''), kind: 'number', cell: (type) => number(type, '') },
      { name: 'Overdue', compare: by('overdue'), kind: 'number', cell: overdue },
    ];
    return denseTable({
      caption: 'Toggle types and their lifetimes',
      kind: 'types few',
      columns,
      items: sorted(state.types, columns, state.order),
      key: ({ id }) => id,
      order: state.order,
      sort: (order) => {
        state.order = order;
        draw();
      },
      actions: may('ADMIN') && ((type) => ({
        name: type.name,
        items: [
          { label: 'Edit lifetime', action: () => openLifetime(type, { signal, change }) },
          { label: 'History', href: logAddress({ subject: `type:${type.id}` }) },
        ],
      })),
    });
  }

  function nameOf({ id, name, description }) {
    return html`<div class="named"><bdi>${name}</bdi>${name.toLowerCase().replaceAll(' ', '-') === id ? nothing : html` <small class="type"><bdi>${id}</bdi></small>`}</div>
      ${description ? html`<small class="line" title=${description}><bdi>${description}</bdi></small>` : nothing}`;
  }

  /** How many toggles of a type are in a state; undefined if that is unknown. */
  function countOf({ id }, of) {
    return state.counts && (state.counts.get(id) ?? noToggles)[of];
  }

  function by(of) {
    return (a, b) => (countOf(a, of) ?? -1) - (countOf(b, of) ?? -1);
  }

  function number(type, of) {
    const toggles = countOf(type, of);
    if (!state.counts) return state.isUnknown ? html`<span class="detail">Unknown</span>` : '…';
    return html`<a href=${listAddress({ type: type.id, stage: of })}>${toggles.toLocaleString('en')}<span class="visually-hidden"> ${
      of ? 'overdue ' : ''}${toggles === 1 ? 'toggle' : 'toggles'} of type <bdi>${type.name}</bdi></span></a>`;
  }

  function overdue(type) {
    return html`<span class=${countOf(type, 'overdue') > 0 ? 'overdue' : nothing}>${number(type, 'overdue')}</span>
      <small class="detail" role="status">${changing.has(type.id) ? 'Re-evaluating…' : nothing}</small>`;
  }

  /** Counts the toggles of all types. */
  async function count() {
    try {
      const { types } = await countToggles(null, signal);
      Object.assign(state, { counts: types, isUnknown: false });
    } catch {
      if (signal.aborted) return;
      Object.assign(state, { counts: null, isUnknown: true });
    }
    draw();
  }

  /** Counts the toggles until the service has re-evaluated them: two counts are the same, and what the preview has said. */
  async function settle() {
    if (settling) return;
    settling = true;
    while (changing.size > 0 && !signal.aborted) {
      await count();
      if (signal.aborted) return;
      for (const [id, entry] of changing) {
        const now = countOf({ id }, 'overdue');
        entry.same = now === entry.latest ? entry.same + 1 : 0;
        entry.latest = now;
        if (state.isUnknown || entry.same >= (now === entry.expected ? 1 : settled)) changing.delete(id);
      }
      draw();
      if (changing.size > 0) await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
    settling = false;
  }

  /** Changes the lifetime of a type, after which some toggles become overdue and others no longer are. */
  async function change({ id }, lifetimeDays, { on, off }) {
    const { lifetimeDays: previous } = state.types.find((type) => type.id === id);
    const before = countOf({ id }, 'overdue') ?? 0;
    const { name } = await set(lifetimeDays, before + on - off);
    announce(`${name}: ${inDays(lifetimeDays).toLowerCase()}.`, async () => {
      const { types } = await call('GET', '/api/admin/feature-types');
      if (types.find((type) => type.id === id)?.lifetimeDays !== lifetimeDays) throw changedSince();
      await set(previous, before);
      return `Undone. ${name}: ${inDays(previous).toLowerCase()}.`;
    });

    async function set(days, expected) {
      const changed = await call('PUT', `/api/admin/feature-types/${encodeURIComponent(id)}/lifetime`, { lifetimeDays: days });
      forgetCounts();
      state.types = state.types.map((type) => (type.id === id ? changed : type));
      changing.set(id, { expected, latest: undefined, same: 0 });
      if (!signal.aborted) {
        draw();
        settle();
      }
      return changed;
    }
  }
}

/** Returns the number of toggles that a search selects. */
async function totalOf(parameters, signal) {
  const query = new URLSearchParams({ ...parameters, limit: 1 });
  return (await call('GET', `/api/admin/search/features?${query}`, undefined, { signal })).total;
}

/** Returns how many toggles of a type become overdue with another lifetime, and how many no longer are. */
async function effectOf(type, lifetimeDays, signal) {
  const latest = Date.now() - lifetimeDays * day; // creation of those that have outlived it
  const [now, then] = await Promise.all([
    totalOf({ type: `IS:${type.id}`, state: 'IS:potentially-stale' }, signal),
    lifetimeDays && latest > Date.UTC(1) ? totalOf({
      type: `IS:${type.id}`, state: 'IS_ANY_OF:active,potentially-stale', createdBefore: new Date(latest + 1).toISOString(),
    }, signal) : 0,
  ]);
  return { on: Math.max(0, then - now), off: Math.max(0, now - then) };
}

/** What a change of the lifetime does, in words. */
function effectWords({ on, off }) {
  const says = [
    on > 0 && `${counted(on, 'toggle')} ${on === 1 ? 'becomes' : 'become'} overdue`,
    off > 0 && `${counted(off, 'toggle')} no longer ${off === 1 ? 'is' : 'are'} overdue`,
  ].filter(Boolean);
  if (says.length === 0) return 'No toggle becomes overdue, and none ceases to be.';
  return `${says.join(', ')}. ${on + off === 1 ? '1 event is' : `${counted(on + off, 'event')} are`} sent.`;
}

/**
 * Opens the dialog that changes a lifetime. It says what the change does before it is possible.
 * @param {Object} type
 * @param {{signal: AbortSignal, change: (type: Object, lifetimeDays: ?number, effect: Object) => Promise<void>}} page
 */
function openLifetime(type, { signal, change }) {
  const input = element(html`<input name="lifetimeDays" inputmode="numeric" autocomplete="off" value=${type.lifetimeDays ?? ''} @input=${later}>`);
  const isNever = element(html`<input type="checkbox" id=${uniqueId()} ?checked=${type.lifetimeDays === null} @change=${choose}>`);
  const effect = element(html`<p class="hint" role="status"></p>`);
  let shown = null; // {lifetimeDays, on, off}: what the dialog says
  let timer;
  const dialog = openDialog(['Lifetime of ', text(type.name)], () => [
    form({ submit: 'Change lifetime', busy: 'Saving…', cancel: () => dialog.close(), send },
      field('Days', input),
      html`<div class="check">${isNever}<label for=${isNever.id}>Never overdue</label></div>`,
      effect),
  ], () => clearTimeout(timer));
  choose();
  if (!isNever.checked) input.select();

  function choose() {
    input.disabled = isNever.checked;
    (isNever.checked ? isNever : input).focus();
    later();
  }

  function later() {
    clearTimeout(timer);
    shown = null;
    const lifetimeDays = entered();
    if (lifetimeDays === undefined) say('Enter the number of days after which toggles of this type become overdue.');
    else if (lifetimeDays === type.lifetimeDays) say(`It is ${inDays(lifetimeDays).toLowerCase()} now.`);
    else {
      say(`${arrow(lifetimeDays)}. Counting toggles…`);
      timer = setTimeout(() => preview(lifetimeDays).catch((error) => signal.aborted || say(error.message)), 300);
    }
  }

  /** The lifetime that was entered, null if toggles never become overdue, undefined if it is invalid. */
  function entered() {
    if (isNever.checked) return null;
    return /^\d+$/.test(input.value.trim()) ? Number(input.value) || null : undefined;
  }

  function arrow(lifetimeDays) {
    return `${inDays(type.lifetimeDays)} → ${inDays(lifetimeDays).toLowerCase()}`;
  }

  function say(words, kind = 'hint') {
    effect.className = kind;
    show(words, effect);
  }

  async function preview(lifetimeDays) {
    clearTimeout(timer);
    const found = await effectOf(type, lifetimeDays, signal);
    if (lifetimeDays !== entered()) return;
    shown = { lifetimeDays, ...found };
    say(`${arrow(lifetimeDays)}: ${effectWords(found)}`, found.on + found.off > 0 ? 'effect' : 'hint');
  }

  async function send() {
    const lifetimeDays = entered();
    if (lifetimeDays === undefined) throw new FieldError('lifetimeDays', 'Enter a whole number of days, or choose “Never overdue”.');
    if (lifetimeDays !== type.lifetimeDays) {
      if (shown?.lifetimeDays !== lifetimeDays) {
        await preview(lifetimeDays);
        if (!shown || shown.on + shown.off > 0) return; // a second press changes it
      }
      await change(type, lifetimeDays, shown);
    }
    dialog.close();
  }
}

function inDays(count) {
  return count === null ? 'Never' : counted(count, 'day');
}
