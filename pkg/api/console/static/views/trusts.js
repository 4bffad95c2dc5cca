// The part of the page of a service account about its trusts: which pipelines can use it with their ID tokens.

import { call } from '../api.js';
import { FieldError, field, form, openDialog } from '../dialog.js';
import { failure, loading, logAddress, text } from '../dom.js';
import { draftFor, keepControls } from '../draft.js';
import { denseTable } from '../table.js';
import { element, html, nothing } from '../template.js';
import { accountsPath } from './service-account-dialogs.js';
import { moment } from './token-table.js';

/** The issuers of docs/pipelines.md, with the claims that a trust in them needs. */
const issuers = {
  'https://token.actions.githubusercontent.com': { name: 'GitHub Actions', claims: 'repository_id=1296269\nref=refs/heads/main' },
  'https://gitlab.com': { name: 'GitLab CI/CD', claims: 'project_id=20\nref=main\nref_protected=true' },
  'https://app.terraform.io': { name: 'HCP Terraform', claims: 'terraform_workspace_id=ws-mbsd5E3Ktt5Rg2Xm\nterraform_run_phase=apply' },
};

/**
 * The trusts of an account.
 * @param {string} id of the account
 * @param {{signal: AbortSignal, announce: (message: string) => void}} context of the page
 * @param {() => void} draw
 */
export function accountTrusts(id, { signal, announce }, draw) {
  const path = `${accountsPath}/${encodeURIComponent(id)}/trust`;
  const state = { trusts: null, error: null };
  let resumed = false;
  return { load, template };

  async function load() {
    try {
      Object.assign(state, { trusts: (await call('GET', path, undefined, { signal })).trusts, error: null });
    } catch (error) {
      if (signal.aborted) return;
      state.error = error;
    }
    draw();
    if (state.trusts && !resumed) resume();
  }

  /** Opens the dialog again in which something was entered. */
  function resume() {
    resumed = true;
    const about = draftFor('trust');
    if (about?.account !== id) return;
    const old = state.trusts.find((trust) => trust.id === about.replaces);
    if (old || about.replaces === null) edit(old);
  }

  function template() {
    const { trusts, error } = state;
    return html`<section aria-label="Pipelines" class="trusts">
      <h2>Pipelines</h2>
      <p class="lead">A trust lets the jobs of a pipeline use this account with the ID tokens of an issuer, without a stored secret.</p>
      ${error ? failure(error, load) : !trusts ? loading('the trusts') : html`
        ${trusts.length === 0 ? html`<p class="empty">The account trusts no pipeline.</p>` : table(trusts)}
        <p><button type="button" @click=${() => edit()}>Create trust</button></p>`}</section>`;
  }

  function table(trusts) {
    return denseTable({
      caption: 'Trusts in pipelines',
      columns: [
        { name: 'Description', cell: ({ description }) => html`<bdi>${description}</bdi>` },
        { name: 'Issuer', cell: ({ issuer, audience }) => html`<bdi>${issuers[issuer]?.name ?? issuer}</bdi><small class="line">for <bdi>${audience}</bdi></small>` },
        { name: 'Claims', cell: ({ claims, anyRef }) => html`${lines(claims).map((line) => html`<small class="line"><code><bdi>${line}</bdi></code></small>`)}${
          anyRef ? html`<small class="line warn">Each branch and pull request</small>` : nothing}` },
        { name: 'Created', cell: ({ createdAt }) => moment(createdAt) },
      ],
      items: trusts,
      key: (trust) => trust.id,
      actions: (trust) => ({
        name: trust.description,
        id: `trust-${trust.id}`,
        items: [
          { label: 'Change', action: () => edit(trust) },
          { label: 'Activity', href: logAddress({ query: `trust:${trust.id} ` }) },
          { label: 'History', href: logAddress({ subject: `trust:${trust.id}` }) },
          { label: 'Delete', danger: true, action: () => openDeletion(trust) },
        ],
      }),
    });
  }

  /** Opens the dialog that creates a trust, in the place of an old one if there is one: the API does not change trusts. */
  function edit(old = undefined) {
    const controls = {
      description: element(html`<input name="description" autocomplete="off" dir="auto" required value=${old?.description ?? ''}>`),
      issuer: element(html`<input name="issuer" type="url" autocomplete="off" spellcheck="false" list="issuers" required value=${old?.issuer ?? ''}>`),
      audience: element(html`<input name="audience" autocomplete="off" spellcheck="false" required value=${old?.audience ?? window.location.origin}>`),
      claims: element(html`<textarea name="claims" rows="4" spellcheck="false" required></textarea>`),
      anyRef: element(html`<input type="checkbox" name="anyRef" id="any-ref" ?checked=${old?.anyRef ?? false}>`),
    };
    controls.claims.value = old ? lines(old.claims).join('\n') : '';
    const example = () => { controls.claims.placeholder = issuers[controls.issuer.value]?.claims ?? 'sub=…'; };
    controls.issuer.addEventListener('input', example);
    controls.issuer.addEventListener('change', example); // of a draft
    example();
    const title = old ? ['Change the trust ', text(old.description)] : 'Create a trust';
    const dialog = openDialog(title, () => [
      old ? html`<p>The changed trust gets a new ID. The old one is deleted when the new one exists.</p>` : nothing,
      form({ submit: old ? 'Save' : 'Create trust', busy: old ? 'Saving…' : 'Creating…', cancel: () => draft.leave(), send },
        field('Description', controls.description, 'What uses the account, for example “deploy”.'),
        field('Issuer', controls.issuer, 'The claim iss of the tokens: the https URL of GitHub, GitLab, HCP Terraform or another one.'),
        html`<datalist id="issuers">${Object.entries(issuers).map(([value, { name }]) => html`<option value=${value}>${name}</option>`)}</datalist>`,
        field('Audience', controls.audience, 'The claim aud, for which the job gets its token: the URL of this service.'),
        field('Claims', controls.claims, 'One in each line, such as repository_id=1296269. A token must have each with exactly this value.'),
        html`<div class="field"><label class="check">${controls.anyRef} Trust each branch, environment and pull request of the repository</label></div>`),
    ], undefined, () => draft.leave());
    const draft = keepControls(dialog, controls, {
      kind: 'trust', about: { account: id, replaces: old?.id ?? null }, title: old ? `changes of the trust ${old.description}` : 'a new trust',
    });
    controls.description.focus();

    async function send() {
      const { description, issuer, audience, anyRef } = controls;
      await call('POST', path, {
        description: description.value, issuer: issuer.value.trim(), audience: audience.value.trim(), claims: claimsOf(controls.claims.value),
        ...anyRef.checked && { anyRef: true },
      });
      if (old) await remove(old);
      draft.done();
      await changed(`The trust “${description.value}” was ${old ? 'saved' : 'created'}.`);
    }
  }

  function openDeletion(trust) {
    const dialog = openDialog(['Delete the trust ', text(trust.description), '?'], () => [
      html`<p>The pipelines that use it are refused from the next request on. This cannot be undone.</p>`,
      form({
        submit: 'Delete trust',
        busy: 'Deleting…',
        danger: true,
        cancel: () => dialog.close(),
        async send() {
          await remove(trust);
          dialog.close();
          await changed(`The trust “${trust.description}” was deleted.`);
        },
      }),
    ]);
  }

  async function remove(trust) {
    try {
      await call('DELETE', `${path}/${trust.id}`);
    } catch (error) {
      if (error.status !== 404) throw error; // it is gone already
    }
  }

  async function changed(message) {
    announce(message);
    await load();
    if (document.activeElement === document.body) /** @type {HTMLElement|null} */ (document.querySelector('.trusts button'))?.focus();
  }
}

/** The lines of claims, as they are entered. */
const lines = (claims) => Object.entries(claims).map(([name, value]) => `${name}=${value}`);

/** The claims of the lines that were entered. Throws a FieldError for a line that is none. */
function claimsOf(entered) {
  const claims = new Map();
  for (const line of entered.split('\n').map((one) => one.trim()).filter(Boolean)) {
    const [, name, value] = /^([^=]*[^=\s])\s*=\s*(.+)$/.exec(line) ?? [];
    if (name === undefined) throw new FieldError('claims', `“${line}” is no claim. Enter a name, an equals sign and a value, such as ref=refs/heads/main.`);
    if (claims.has(name)) throw new FieldError('claims', `The claim ${name} is there twice. A token has one value.`);
    claims.set(name, value);
  }
  if (claims.size === 0) throw new FieldError('claims', 'Enter at least one claim.');
  return Object.fromEntries(claims);
}
