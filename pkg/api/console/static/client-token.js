// Client tokens in all views: their API, kinds and projects.

import { call } from './api.js';
import { projectPath } from './project.js';
import { html } from './template.js';
import { config } from './views/sign-in.js';

export const tokensPath = '/api/admin/api-tokens';

/** The path of the tokens of a project. */
export const tokensPathOf = (project) => `${projectPath(project)}/api-tokens`;

/** The URL for applications, or undefined if the deployment has none. */
export const { clientUrl } = config;

/** The kinds of tokens, by the type that a creation sends. */
export const kinds = {
  backend: { name: 'Backend', about: 'For servers. It is secret: it reads all toggles with their strategies, and the SDK evaluates them.' },
  frontend: {
    name: 'Frontend', about: 'For browsers and apps. It is public: everyone who has the app can read it. It only gets which toggles are on for a context.',
  },
};

/**
 * The address of the page that connects an SDK.
 * @param {{project?: string, environment?: string}} [of] the project and the environment of the new token
 */
export function connectAddress({ project, environment } = {}) {
  const choices = new URLSearchParams({ ...environment && { environment }, ...project && { project } });
  return `#/api-tokens/connect${choices.size > 0 ? '?' : ''}${choices}`;
}

/**
 * What is needed so that there is usage.
 * @param {(permission: string) => boolean} may
 * @param {{project?: string, environment?: string}} [of] what applications do not use yet
 */
export const reportHint = (may, { project, environment } = {}) => html`An SDK reports which toggles its application uses, by default once a minute. ${
  may('READ_CLIENT_API_TOKEN') ? html`<a href=${connectAddress({ project, environment })}>Connect an SDK</a>.` : 'An administrator can create a token that connects an SDK.'}`;

/** Loads the tokens, or those of a project. Their `kind` is backend or frontend: lists have an older name for the first. */
export async function loadTokens(signal, path = tokensPath) {
  const { tokens } = await call('GET', path, undefined, { signal });
  return tokens.map((token) => ({ ...token, kind: token.type === 'frontend' ? 'frontend' : 'backend' }));
}

/** The path of a token below a list: by its `secret` there, or by the id of an imported token. */
export const tokenPath = ({ secret, imported, id }, list = tokensPath) => `${list}/${encodeURIComponent(imported ? id : secret)}`;

/** Reports whether no other secret replaces that of a token. */
export const isPresent = ({ validUntil }) => validUntil === null;

/** When the secret of a token ends: with the token, or earlier, because another secret replaces it. Null: never. */
export const endOf = ({ expiresAt, validUntil }) => [expiresAt, validUntil].filter((time) => time !== null).sort().at(0) ?? null;

/** Reports whether a complete secret is that of a token in the list. */
export const isSecretOf = (secret, token) => secret.startsWith(`${token.secret}_`);

/** The projects of a token in words. */
export const projectNames = ({ projects }) => (projects.includes('*') ? ['All projects'] : projects);

/** A URL that tries a token of a kind, or null if there is no URL for applications. */
export const tryUrl = (kind) => (clientUrl ? `${clientUrl}${kind === 'frontend' ? '/api/frontend' : '/api/client/features'}` : null);
