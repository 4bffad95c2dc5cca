// Runs an OpenID Connect issuer for a test: node issuer.mjs ALGORITHM. It is oidc-provider, which is OpenID-certified. It has one client,
// "console". The first line on stdout is its URL. Each line on stdin replaces the signing key, which ends sessions and tokens, and is
// answered by a line. The end of stdin ends the issuer.
import { generateKeyPair, randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import Provider, { interactionPolicy } from 'oidc-provider';

const keyTypes = {
  RS256: ['rsa', { modulusLength: 2048 }],
  PS256: ['rsa', { modulusLength: 2048 }],
  ES256: ['ec', { namedCurve: 'P-256' }],
  EdDSA: ['ed25519', {}],
};

const policy = interactionPolicy.base();
policy.get('consent').checks.remove('native_client_prompt'); // nobody is asked at each sign-in

const accounts = { // by login, which is also the subject
  grace: { email: 'Admin@Example.com', email_verified: true, name: 'Grace' }, // the seeded admin, in other letter case
  alan: { email: 'admin@example.com', email_verified: false, name: 'Alan' },
  ada: { name: 'Ada <b>L.</b>' },
};

// newProvider returns a provider with a new signing key.
async function newProvider(url, algorithm) {
  const { privateKey } = await promisify(generateKeyPair)(...keyTypes[algorithm]);
  const page = (body) => `<!DOCTYPE html><html lang="en"><title>Issuer</title><link rel="icon" href="data:,">${body}</html>`;
  const provider = new Provider(url, {
    clients: [{
      client_id: 'console',
      application_type: 'native', // so that the port of the loopback address is not compared
      redirect_uris: ['http://127.0.0.1/console/'],
      post_logout_redirect_uris: ['http://127.0.0.1/console/'],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      token_endpoint_auth_method: 'none', // a public client: PKCE is required
      id_token_signed_response_alg: algorithm,
    }],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), alg: algorithm, use: 'sig', kid: randomUUID() }] },
    enabledJWA: { idTokenSigningAlgValues: Object.keys(keyTypes) },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false, // the ID token has all claims, as with most issuers
    clientBasedCORS: () => true,
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ sub, ...accounts[sub] }) }),
    async loadExistingGrant({ oidc }) { // nobody is asked for consent
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope(oidc.params.scope);
      await grant.save();
      return grant;
    },
    interactions: { policy, url: (_, { uid }) => `/sign-in/${uid}` },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        logoutSource: (ctx, form) => {
          ctx.body = page(`${form}<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out of the issuer</button>`);
        },
        postLogoutSuccessSource: (ctx) => { ctx.body = page('<p>Signed out of the issuer'); },
      },
    },
    renderError: (ctx, out) => { ctx.body = page(`<p>${out.error}: ${out.error_description}`); },
  });
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/sign-in/')) {
      await next();
      return;
    }
    if (ctx.method === 'POST') {
      const accountId = new URLSearchParams(await text(ctx.req)).get('login');
      await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId } });
      ctx.respond = false;
      return;
    }
    ctx.body = page('<form method="post"><label>Login <input name="login"></label><button>Continue</button></form>');
  });
  return provider;
}

let serve;
const server = createServer((request, response) => serve(request, response));
await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
const url = `http://127.0.0.1:${server.address().port}`;
const replaceKey = async () => { serve = (await newProvider(url, process.argv[2])).callback(); };
await replaceKey();
console.log(url);
for await (const _ of createInterface({ input: process.stdin })) {
  await replaceKey();
  console.log('the key is replaced');
}
process.exit();
