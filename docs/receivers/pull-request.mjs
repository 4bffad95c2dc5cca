// Starts the workflow remove-toggle.yml in the repository REPOSITORY (owner/name). GITHUB_TOKEN may write contents.
const { GITHUB_API_URL = 'https://api.github.com', REPOSITORY, GITHUB_TOKEN } = process.env;
const repository = `${GITHUB_API_URL}/repos/${REPOSITORY}`;

export async function handle(event) {
  if (event.type !== 'toggleadmin.feature-potentially-stale-on') return;
  const response = await fetch(`${repository}/dispatches`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${GITHUB_TOKEN}`, Accept: 'application/vnd.github+json' },
    body: JSON.stringify({ event_type: 'stale-toggle', client_payload: { toggle: event.subject } }),
  });
  if (!response.ok) throw new Error(`GitHub responds with ${response.status}`);
}
