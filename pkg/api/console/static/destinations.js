// Where the input "Go to" leads: pages, toggles, projects, segments, applications and people, what can be created, and switches of toggles.

import { applicationAddress, applicationsPath } from './application.js';
import { call } from './api.js';
import { cached } from './cached.js';
import { matching } from './combobox.js';
import { switchNeed } from './environment.js';
import { pages } from './pages.js';
import { accountName, findAccounts, personAddress } from './person.js';
import { knownProjects, projectAddress } from './project.js';
import { fold, matcher } from './search.js';
import { loadSegments, segmentAddress } from './segment.js';
import { searchToggles, toggleAddress } from './toggle.js';
import { turn } from './views/switching.js';
import { wayOf } from './why.js';

/**
 * @typedef {{value: string, label: string, detail: string, open: () => void}} Destination `value` is unique
 * @typedef {{user: ?Object, may: Function, asks: Function, learnAsking: Function, announce: Function, signal: AbortSignal}} Context of the page
 */

const mostToggles = 8;
const mostOthers = 4; // of each other kind
const kept = 30_000; // how long segments and applications are kept, in milliseconds

/** What the button of a page creates, by the page, with the permissions of which one is enough. */
const creations = {
  toggles: ['Create a toggle', 'CREATE_FEATURE'],
  segments: ['Create a segment', 'CREATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  context: ['Create a context field', 'CREATE_CONTEXT_FIELD'],
  projects: ['Create a project', 'CREATE_PROJECT'],
  'api-tokens': ['Connect an SDK', 'READ_CLIENT_API_TOKEN'],
  'service-accounts': ['Create a service account', 'ADMIN'],
  people: ['Add a person', 'ADMIN'],
  groups: ['Create a group', 'ADMIN'],
  roles: ['Create a role', 'ADMIN'],
  environments: ['Create an environment', 'ADMIN'],
  'tag-types': ['Create a tag type', 'CREATE_TAG_TYPE'],
};

const segments = cached(() => loadSegments(), kept);
const applications = cached(async () => (await call('GET', applicationsPath)).applications, kept);

/**
 * Finds destinations: the pages for an empty text.
 * @param {string} text
 * @param {Context} context
 * @returns {Promise<Destination[]>}
 */
export async function findDestinations(text, context) {
  if (text === '') return findPages(text, context);
  const wanted = /^turn\s+(on|off)\s+(\S+)(?:\s+(?:in\s+)?(\S+))?$/i.exec(text);
  if (wanted) return findSwitches(wanted[1].toLowerCase() === 'on', wanted[2], wanted[3] ?? '', context);
  const created = findCreations(text, context);
  const isAsked = /^(create|add|new|connect)\b/i.test(text);
  const kinds = await Promise.all([
    isAsked ? created : [], findToggles(text, context), findPages(text, context), isAsked ? [] : created, findProjects(text), findSegments(text), findApplications(text), findPeople(text, context),
  ].map((found) => Promise.resolve(found).catch(() => []))); // of a kind that the caller does not see
  return kinds.flat();
}

/** @returns {Destination} */
const link = (address, label, detail) => ({ value: address, label, detail, open: () => { window.location.hash = address; } });

const first = (all, text) => matching(all, text).slice(0, mostOthers);

function findPages(text, { may, user }) {
  const all = Object.entries(pages).filter(([, { permission, ofUser }]) => (!permission || may(permission)) && (!ofUser || user));
  return matching(all.map(([name, { title }]) => link(`#/${name}`, title, 'Page')), text);
}

function findCreations(text, { may }) {
  const matches = matcher(text);
  return Object.entries(creations).filter(([, [label, ...permissions]]) => permissions.some((permission) => may(permission)) && matches(label, 'new'))
    .map(([page, [label]]) => ({ value: `create ${page}`, label, detail: 'Action', open: () => create(page) }));
}

/** Goes to a page, and uses its button as soon as it is there. */
async function create(page) {
  const isHere = /^#\/([^?]*)/.exec(window.location.hash)?.[1] === page;
  if (!isHere) {
    const arrived = new Promise((resolve) => { window.addEventListener('hashchange', resolve, { once: true }); });
    window.location.hash = `#/${page}`;
    await arrived;
  }
  const main = document.querySelector('main');
  const press = () => {
    const button = /** @type {HTMLElement|null} */ (main.querySelector('.head .buttons .primary'));
    button?.click();
    return button !== null;
  };
  if (press()) return;
  const observer = new MutationObserver(() => press() && observer.disconnect());
  observer.observe(main, { childList: true, subtree: true });
  window.addEventListener('hashchange', () => observer.disconnect(), { once: true });
}

async function findToggles(text, { signal }) {
  const { features } = await searchToggles({ query: text, sortBy: 'relevance', limit: mostToggles }, signal);
  return features.map((toggle) => link(toggleAddress(toggle), toggle.name, toggle.project));
}

async function findProjects(text) {
  const all = (await knownProjects()).filter(({ id, name }) => fold(`${id} ${name}`).includes(fold(text)));
  return all.slice(0, mostOthers).map(({ id, name }) => link(projectAddress(id), name, 'Project'));
}

async function findSegments(text) {
  return first((await segments.get()).map(({ id, name }) => link(segmentAddress(id), name, 'Segment')), text);
}

async function findApplications(text) {
  return first((await applications.get()).map(({ appName }) => link(applicationAddress(appName), appName, 'Application')), text);
}

async function findPeople(text, { may, signal }) {
  if (!may('ADMIN')) return []; // has no page of a person
  const found = await findAccounts(text, signal);
  return found.filter(({ accountType }) => accountType === 'User').slice(0, mostOthers)
    .map((person) => link(personAddress(person), accountName(person), 'Person'));
}

/** Finds what the caller can turn on or off, or ask for. What is so already is left out. */
async function findSwitches(on, query, environmentPart, context) {
  const { features } = await searchToggles({ query, sortBy: 'relevance', limit: mostToggles }, context.signal);
  const live = features.filter(({ archived }) => !archived);
  await context.learnAsking([...new Set(live.map(({ project }) => project))]);
  return live.flatMap((toggle) => toggle.environments
    .filter(({ name, enabled }) => enabled !== on && fold(name).startsWith(fold(environmentPart)))
    .filter((environment) => wayOf(switchNeed(toggle, environment), context) !== '')
    .map((environment) => ({
      value: `turn ${on ? 'on' : 'off'} ${toggle.name} in ${environment.name}`,
      label: `Turn ${on ? 'on' : 'off'} ${toggle.name} in ${environment.name}`,
      detail: toggle.project,
      open: () => { turn(toggle, environment, on, context, () => {}); },
    })));
}
