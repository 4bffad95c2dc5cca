// The shell: who is signed in, and which page the fragment names.

import { loadAllTokens, riskChanges, riskCount } from './all-tokens.js';
import { call, noConnection, roles } from './api.js';
import { combobox } from './combobox.js';
import { isLost } from './connection.js';
import { failure, focusOn, loading } from './dom.js';
import { discard, draftsOf } from './draft.js';
import { pages, parseAddress } from './pages.js';
import { permissionIndex } from './project-permissions.js';
import { changeProject, forgetProject, projectSwitcher, rememberedProject, rememberProject, withProject } from './project-switcher.js';
import { authorizationResponse, credential, draftStorage, events, joinSession, printedCode, signIn, signOut } from './session.js';
import { element, html, nothing, render } from './template.js';
import { isUTC, ownZone, showUTC } from './time.js';
import { countToggles, toggleChanges } from './toggle.js';
import { config, isApiToken, isIdToken, issuerHost, renderSignIn } from './views/sign-in.js';

const product = document.title;

const main = document.querySelector('main');
const navigation = document.getElementById('pages');
const account = document.getElementById('account');
const go = goTo();
const switcher = projectSwitcher(chooseProject);
const toast = document.getElementById('toast');
const toastButtons = /** @type {HTMLElement} */ (toast.lastElementChild);
const status = document.getElementById('status');
/** The message of the toast: `isNew` while it waits to be shown, and the timer that shows or hides it. */
const message = { isNew: false, timer: 0 };

/**
 * The caller: `user` (null for an API token, which identifies nobody), the name of the root role, the functions of `permissionIndex`, and `reloadPermissions`, which loads
 * the permissions again after a change of the caller's roles, and the functions of `asking`. Null until the API has answered.
 */
let caller = null;
/** The number of toggles that are overdue or to be removed, null while it is unknown. */
let toCleanUp = null;
/** The caller's drafts of change requests, and how many wait for the caller, null while that is unknown. */
let asked = { bars: /** @type {unknown} */ (nothing), waiting: null };
/** Links to the views of the list of toggles that the caller has saved. */
let views = /** @type {unknown} */ (nothing);
/** The first segment of the fragment of the current page. */
let currentPage;
/** The project that lists show, '' for all. */
let listedProject = '';
/** The parts of the page. */
const shown = { draft: nothing, title: '', marks: [], path: [], actions: [], content: nothing };
/** Cancels what the current page still waits for. */
let leave = new AbortController();
/** The focus moves to the heading of each page but the first one, so that Tab begins there with the navigation. */
let moveFocus = false;

document.getElementById('skip').addEventListener('click', (event) => {
  event.preventDefault(); // the fragment names the page
  main.focus();
});
window.addEventListener('hashchange', () => caller && showPage());
toggleChanges.addEventListener('counted', (/** @type {CustomEvent} */ { detail }) => showCleanUp(detail['to-remove'] + detail.overdue));
toggleChanges.addEventListener('change', countCleanUp);
events.addEventListener('signed-in', enter);
events.addEventListener('signed-out', async (/** @type {CustomEvent} */ { detail }) => {
  // The issuer may still have a session: then it renews this one without asking.
  if (detail.rejected && caller && isIdToken(detail.token) && config.issuer && !config.issuerError) {
    caller = null;
    render(loading('your account'), startPage('Sign in'));
    try {
      const { begin: renew } = await import('./oidc.js');
      await renew(config, true);
      return;
    } catch {
      showSignIn('Your session has ended. Sign in again.', detail);
      return;
    }
  }
  if (!detail.rejected) {
    window.history.replaceState(null, '', window.location.pathname); // the next user may not see this page
    forgetProject();
    import('./recent.js').then(({ forgetPages }) => forgetPages());
  }
  showSignIn(detail.rejected ? rejection(detail.token) : 'You are signed out.', detail);
});
events.addEventListener('code', begin);
riskChanges.addEventListener('change', showPages);
showZone();
begin();

async function begin() {
  const code = printedCode();
  if (code !== null) {
    render(loading('your account'), startPage('Sign in'));
    try {
      signIn((await call('POST', '/local/sign-in', { code }, { token: null })).token);
    } catch (error) {
      if (credential() === null) showSignIn(error.message);
      else enter();
    }
    return;
  }
  if (!authorizationResponse || credential() !== null) {
    await joinSession();
    enter();
    return;
  }
  render(loading('your account'), startPage('Sign in'));
  try {
    const { complete } = await import('./oidc.js');
    await complete(config, authorizationResponse);
  } catch (error) {
    showSignIn(error.message);
  }
}

/** Shows the page of the fragment if the API accepts the credential. */
async function enter() {
  const token = credential();
  caller = null;
  toCleanUp = null;
  asked = { bars: nothing, waiting: null };
  views = nothing;
  if (token === null) {
    showSignIn();
    return;
  }
  showNavigation();
  const first = !moveFocus;
  const { page, title } = parseAddress(window.location.hash || '#/');
  const content = startPage(title);
  if (first) moveFocus = false; // the first page replaces this one
  render(loading('your account'), content);
  page.load().catch(() => {}); // while the API looks for the caller
  try {
    caller = await loadCaller(leave.signal);
  } catch (error) {
    if (!leave.signal.aborted) render(failure(error, enter), content);
    return;
  }
  listedProject = rememberedProject(caller.user);
  showNavigation();
  await showPage();
  if (toCleanUp === null && caller) countCleanUp();
  if (caller) watchDrafts(caller);
  if (caller?.user) watchViews();
  // The page of the tokens says what is wrong, if they cannot be loaded.
  if (caller?.may('ADMIN') && credential() === token && riskCount() === null) await loadAllTokens().catch(() => {});
}

/** Counts the toggles to clean up. The event `counted` shows the number. */
async function countCleanUp() {
  try {
    await countToggles(null);
  } catch {
    showCleanUp(null);
  }
}

function showCleanUp(count) {
  toCleanUp = count;
  showPages();
}

/** Shows what the caller wants to ask for, and what waits for the caller. The pages do not need it. */
async function watchDrafts({ user }) {
  try {
    const drafts = await import('./drafts.js');
    await drafts.watchDrafts({ user, announce }, (shownDrafts) => {
      asked = shownDrafts;
      change({});
      showPages();
    });
  } catch {
    // It is loaded again after the next change.
  }
}

/** Shows the saved views. The pages do not need them. */
async function watchViews() {
  const { user } = caller;
  await import('./saved-views.js').then((saved) => saved.watchViews({ announce }, (links) => {
    if (caller?.user !== user) return;
    views = links;
    showPages();
  })).catch(() => {}); // they are loaded again after the next sign-in
}

async function loadCaller(signal) {
  try {
    const { user, permissions } = await call('GET', '/api/admin/user', undefined, { signal });
    let index = permissionIndex(permissions);
    return {
      user,
      role: roles[user.rootRole] ?? await roleName(user.rootRole, signal),
      may: (permission, project, environment) => index.may(permission, project, environment),
      projectsFor: (permission) => index.projectsFor(permission),
      ...asking(() => index),
      async reloadPermissions() {
        index = permissionIndex((await call('GET', '/api/admin/user')).permissions);
      },
    };
  } catch (error) {
    // The operation needs a user. A filter in front of the API also responds with 403.
    if (error.status !== 403 || !isApiToken(credential())) throw error;
    return { user: null, role: roles[1], ...permissionIndex([{ permission: 'ADMIN' }]), asks: () => false, async learnAsking() {}, async reloadPermissions() {} };
  }
}

/** Where a user may ask for changes, of the projects for which a page has called `learnAsking`. */
function asking(index) {
  const known = new Map(); // the names of environments by project
  return {
    asks: (places) => places.some(({ project, environment }) => known.get(project)?.has(environment.name)),
    async learnAsking(projects) {
      const { may, hasRole } = index();
      if (may('ADMIN')) return; // need not ask
      const { learn } = await import('./asking.js');
      await learn(known, projects, hasRole);
    },
  };
}

/** The name of a custom root role. The pages do not need it. */
async function roleName(id, signal) {
  return (await call('GET', `/api/admin/roles/${id}`, undefined, { signal }).catch(() => ({ name: '' }))).name;
}

/** Shows the page that the fragment names. */
async function showPage() {
  if (['', '#/'].includes(window.location.hash)) window.history.replaceState(null, '', caller.user ? '#/' : withProject('#/toggles', listedProject));
  const { name, page, title, detail, search } = parseAddress(window.location.hash);
  if (page.ofProject && detail === '') setProject(search.get('project') ?? '');
  showNavigation(name);
  const content = startPage(title);
  const { signal } = leave;
  offerDraft();
  if (page.permission && !caller.may(page.permission)) {
    const { refusal } = await import('./views/explanation.js');
    if (!signal.aborted) render(refusal({ permission: page.permission, to: `see the page “${page.title}”` }, { ...caller, announce }), content);
    return;
  }
  try {
    const view = await page.load().catch(async () => {
      throw await isLost() ? noConnection() : new Error('The page cannot be loaded. Reload it: there may be a newer version.');
    });
    if (signal.aborted) return;
    const here = (set) => (...values) => signal.aborted || set(...values); // a page that was left changes no other one
    await view.render(content, {
      ...caller, detail, search, signal, announce, setTitle: here(setTitle), setActions: here(setActions), setPath: here(setPath), setProject: here(setProject),
    });
    preload();
    if (caller.user && detail !== '' && !signal.aborted) (await import('./recent.js')).remember(caller.user, window.location.hash, shown.title);
  } catch (error) {
    if (!signal.aborted) render(failure(error, showPage), content);
  }
}

/**
 * Loads the other pages when the browser has nothing to do, so that they open at once, and without a connection. It
 * loads one after the other, so that a page that the user opens meanwhile does not wait for all of them.
 */
function preload() {
  (window.requestIdleCallback ?? setTimeout)(async () => {
    for (const { load, permission } of Object.values(pages)) {
      if (!permission || caller?.may(permission)) await load().catch(() => {});
    }
  });
}

/** Says above a page that it shows what was entered before, or that another page has something that is not saved. */
function offerDraft() {
  const { own, other } = draftsOf(caller);
  const draft = own ?? other;
  if (!draft || own && !own.isPage) { // a dialog opens with its own draft
    change({ draft: nothing });
    return;
  }
  const remove = () => {
    discard(draft);
    if (own) showPage();
    else offerDraft();
    main.focus();
  };
  change({
    draft: html`<div class="notice warn draft">
      <p><strong>${own ? 'Restored' : 'Not saved'}: </strong>${draft.title}</p>
      <div class="buttons">
        ${own ? nothing : html`<button type="button" @click=${() => { window.location.hash = draft.page; }}>Continue</button>`}
        <button type="button" class="danger quiet" @click=${remove}>Discard</button>
      </div></div>`,
  });
}

/**
 * Names the page.
 * @param {string} title
 * @param {...unknown} marks beside the heading: templates, or what is false
 */
function setTitle(title, ...marks) {
  document.title = `${title} · ${product}`;
  change({ title, marks });
}

/** Shows the way to a page above its heading: links to the pages that lead to it. */
function setPath(...path) {
  change({ path });
}

/** Shows what can be done on a page beside its heading: templates, or what is false. */
function setActions(...actions) {
  change({ actions });
}

/** Remembers the project that a list shows, '' for all, for the other lists. A filter with an operator is no project. */
function setProject(filter) {
  const next = filter.includes(':') ? '' : filter;
  if (next === listedProject) return;
  listedProject = next;
  rememberProject(caller.user, next);
  showPages();
}

/** Shows another project, or all, on the list that is shown. */
function chooseProject(next) {
  const { page, title, detail } = parseAddress(window.location.hash);
  setProject(next);
  if (page.ofProject && detail === '') window.location.hash = changeProject(window.location.hash, next);
  else announce(next === '' ? 'Lists show all projects.' : `Lists show the project ${next}. The page “${title}” is about all.`);
}

/** Replaces the page by its heading and an empty element, which it returns. */
function startPage(title) {
  leave.abort();
  leave = new AbortController();
  if (!message.isNew) hideToast(); // a new message is about what led to this page
  if (shown.content === nothing) main.replaceChildren(); // what the document begins with
  for (const dialog of main.querySelectorAll('dialog')) dialog.remove();
  const content = element(html`<div class="page"></div>`); // while it is empty, style.css says that the page is loading
  document.title = `${title} · ${product}`;
  change({ draft: nothing, title, marks: [], path: [], actions: [], content });
  if (moveFocus) focusOn('h1', main);
  moveFocus = true;
  window.scrollTo(0, 0);
  return content;
}

/** Changes parts of the page. */
function change(parts) {
  Object.assign(shown, parts);
  const { draft, title, marks, path, actions, content } = shown;
  render(html`${caller ? asked.bars : nothing}${draft}
    <nav class="path" aria-label="Path" ?hidden=${path.length === 0}>${path.filter(Boolean)}</nav>
    <div class="head"><div><h1 tabindex="-1"><bdi>${title}</bdi></h1>${marks.filter(Boolean)}</div><div class="buttons">${actions.filter(Boolean)}</div></div>
    ${content}`, main);
}

/**
 * @param {string} [why] what the page says
 * @param {{token?: string, rejected?: boolean}} [reason]
 */
function showSignIn(why, { token, rejected } = {}) {
  caller = null;
  hideToast();
  showNavigation();
  renderSignIn(startPage('Sign in'), { message: why, rejected, issued: isIdToken(token), token });
}

function rejection(token) {
  if (caller) {
    const kept = draftStorage.get() === null ? '' : ' What you entered is kept: sign in to continue.';
    return `Your session has ended. The credential has expired, or it was deleted or disabled.${kept}`;
  }
  if (config.issuer && isIdToken(token)) return `${issuerHost()} has signed you in, but this service has no active account for you. Ask an administrator.`;
  return 'The API does not accept this token. It has expired, or it was deleted, or its account is disabled.';
}

/**
 * Shows the links and the caller. Until the API has answered, the links are those for everyone, so that nothing moves later.
 * @param {string} [current] the first segment of the fragment
 */
function showNavigation(current) {
  const signedIn = credential() !== null;
  document.body.classList.toggle('signed-in', signedIn);
  for (const menu of document.querySelectorAll(':popover-open')) /** @type {HTMLElement} */ (menu).hidePopover();
  currentPage = current;
  showPages();
  render(caller ? go : nothing, document.getElementById('go'));
  render(signedIn ? html`
    <button type="button" popovertarget="account-menu"><span class=${caller ? 'visually-hidden' : nothing}>Account${caller ? ': ' : nothing}</span>
      ${caller ? html`<bdi>${callerName()}</bdi> <small><bdi>${caller.role}</bdi></small>` : nothing}</button>
    <div id="account-menu" class="menu" popover>
      ${caller?.user && caller.may('ADMIN') ? html`<a href="#/events?createdBy=${caller.user.id}">Your changes</a>` : nothing}
      <a href="#/tokens" aria-current=${current === 'tokens' ? 'page' : nothing}>Your tokens</a>
      <button type="button" aria-keyshortcuts="?" @click=${async () => (await import('./keys.js')).openKeys()}>Keys</button>
      <button type="button" @click=${() => signOut()}>Sign out</button>
    </div>` : nothing, account);
}

/** Says in which time zone the times of all pages are, and offers the other one. */
function showZone() {
  const changeZone = () => {
    showUTC(!isUTC());
    showZone();
    if (caller) showPage();
  };
  render(html`Times: ${isUTC() ? 'UTC' : ownZone}${ownZone === 'UTC' ? nothing
    : html` <button type="button" @click=${changeZone}>Show ${isUTC() ? ownZone : 'UTC'}</button>`}`, document.getElementById('zone'));
}

/** Shows the links to the pages that the caller may see. */
function showPages() {
  const allowed = Object.entries(pages).filter(([, { group, permission, ofUser }]) => (
    group && credential() !== null && (!permission || caller?.may(permission)) && !(ofUser && caller && !caller.user)));
  switcher.set(listedProject);
  render([caller ? html`<div class="switcher">${switcher.element}</div>` : nothing, ...[...Map.groupBy(allowed, ([, { group }]) => group)].map(([group, links]) => html`
    <h2>${group}</h2>
    <ul>${links.map(([name, { title, ofProject }]) => html`
      <li><a href=${ofProject ? withProject(`#/${name}`, listedProject) : `#/${name}`} aria-current=${name === currentPage ? 'page' : nothing}>${title}</a>${name === 'cleanup' && toCleanUp !== null
  ? html`<span class="number">${toCleanUp.toLocaleString('en')}<span class="visually-hidden"> ${
    toCleanUp === 1 ? 'toggle is' : 'toggles are'} overdue or to be removed</span></span>` : nothing}${name === 'api-tokens' ? risks() : name === 'change-requests' ? waiting() : name === 'toggles' ? views : nothing}</li>`)}
    </ul>`)], navigation);
}

/** How many change requests wait for the caller. */
function waiting() {
  return asked.waiting ? html`<span class="number">${asked.waiting.toLocaleString('en')}<span class="visually-hidden"> ${
    asked.waiting === 1 ? 'change request waits' : 'change requests wait'} for you</span></span>` : nothing;
}

/** How many tokens are a risk. */
function risks() {
  const count = caller?.may('ADMIN') ? riskCount() : 0;
  return count ? html`<a class="number" href="#/api-tokens?list=risk" title="Tokens at risk"
    aria-label="${count} ${count === 1 ? 'token' : 'tokens'} at risk">${count}!</a>` : nothing;
}

function callerName() {
  if (!caller.user) return 'API token';
  return caller.user.name || caller.user.username || caller.user.email || `User ${caller.user.id}`;
}

/**
 * Shows a result, and has screen readers say it. It stays for a moment. One that can be undone stays until the next one or the next page,
 * and its button gets the focus if the change has removed what had it.
 * @param {string} text
 * @param {(() => Promise<string|undefined>) & {items?: import('./views/change-sheet.js').Item[]}} [undo] undoes it, and returns what was
 *   undone; undefined if it was not. `items` are what it changes.
 */
function announce(text, undo) {
  hideToast();
  message.isNew = true;
  message.timer = setTimeout(async () => {
    message.isNew = false;
    status.textContent = text;
    if (!undo) {
      message.timer = setTimeout(hideToast, 8000);
      return;
    }
    const show = (label) => render(html`
      <button type="button" @click=${revert}>${label}</button>
      <button type="button" aria-label="Close the message" @click=${hideToast}>×</button>`, toastButtons);
    show('Undo');
    keepFocus(() => focusOn('button', toast));
    if (!undo.items) return;
    const { undoLabel } = await import('./views/change-sheet.js'); // the first view does not need it
    const label = await undoLabel(undo.items, caller);
    if (toast.querySelector('button') && status.textContent === text) show(label);
  }, 50); // the same message twice is a change for screen readers only after a pause

  async function revert({ currentTarget: button }) {
    if (button.ariaDisabled) return;
    button.ariaDisabled = 'true';
    try {
      const undone = await undo();
      if (undone !== undefined) announce(undone);
    } catch (error) {
      if (credential() !== null) announce(`It was not undone. ${error.message}`, undo);
    } finally {
      button.ariaDisabled = null;
    }
  }
}

/** Gives the focus to something if a change of the page removes what has it, until the user does the next thing. */
function keepFocus(focus) {
  const check = () => { if (document.activeElement === document.body) focus(); };
  const observer = new MutationObserver(check);
  observer.observe(main, { childList: true, subtree: true });
  for (const event of ['keydown', 'pointerdown']) document.addEventListener(event, () => observer.disconnect(), { capture: true, once: true });
  check();
}

/** An input that leads to everything that has a page. Ctrl K goes there from everywhere. */
function goTo() {
  const pause = 150; // between two keys, in milliseconds
  const input = /** @type {HTMLInputElement} */ (element(
    html`<input type="search" placeholder="Go to…  Ctrl K" aria-label="Go to" aria-keyshortcuts="Control+K" title="Go to a page, toggle, project, segment, application or person">`));
  let found = [];
  const box = combobox(input, {
    choices: async (text) => {
      await new Promise((resolve) => { setTimeout(resolve, text === '' ? 0 : pause); });
      if (text !== '' && text !== input.value.trim()) return [];
      const { findDestinations } = await import('./destinations.js'); // the first view does not need it
      found = await findDestinations(text, { ...caller, announce, signal: leave.signal });
      return found;
    },
    choose: (value) => {
      box.set('');
      found.find((destination) => destination.value === value)?.open();
    },
  });
  import('./keys.js').then(({ listenToKeys }) => listenToKeys(input), () => {}); // the first view does not need it
  return box.element;
}

function hideToast() {
  clearTimeout(message.timer);
  message.isNew = false;
  if (toast.contains(document.activeElement)) main.focus({ preventScroll: true });
  status.textContent = '';
  render(nothing, toastButtons);
}
