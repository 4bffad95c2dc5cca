// Client tokens in all views: their API, kinds and projects.

import { call } from './api.js';
import { projectPath } from './project.js';
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
