// One issue on GitHub for each toggle: open while the toggle is potentially stale, closed otherwise.
// REPOSITORY is owner/name, GITHUB_TOKEN may write issues. The text of an issue has the sequence of its last event,
// so that repeated and older events change nothing. Run one process: it handles one event at a time.
const { GITHUB_API_URL = 'https://api.github.com', REPOSITORY, GITHUB_TOKEN } = process.env;
const repository = `${GITHUB_API_URL}/repos/${REPOSITORY}`;
const label = 'stale-toggle';
let issues; // {number, sequence} by title
let last = Promise.resolve();

async function github(method, path, body) {
  const response = await fetch(`${repository}/issues${path}`, {
    method,
    headers: { Authorization: `Bearer ${GITHUB_TOKEN}`, Accept: 'application/vnd.github+json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`GitHub responds with ${response.status}`);
  return response.json();
}

async function load() {
  const found = new Map();
  for (let page = 1, size = 100; size === 100; page++) {
    const list = await github('GET', `?labels=${label}&state=all&sort=created&direction=asc&per_page=100&page=${page}`);
    for (const { title, number, body } of list) {
      const sequence = BigInt(/<!-- sequence (\d+) -->/.exec(body)?.[1] ?? 0);
      if (!found.has(title)) found.set(title, { number, sequence });
    }
    size = list.length;
  }
  return found;
}

async function update(event) {
  issues ??= await load();
  const title = `Remove the toggle ${event.subject}`;
  const { createdAt, featureType, project } = event.data;
  if (!issues.has(title)) {
    const { number } = await github('POST', '', { title, labels: [label] });
    issues.set(title, { number, sequence: 0n });
  }
  const issue = issues.get(title);
  if (BigInt(event.sequence) <= issue.sequence) return;
  await github('PATCH', `/${issue.number}`, {
    state: event.type.endsWith('-on') ? 'open' : 'closed',
    body: `Created ${createdAt}, type ${featureType}, project ${project}.\n\n<!-- sequence ${event.sequence} -->`,
  });
  issue.sequence = BigInt(event.sequence);
}

export async function handle(event) {
  if (!event.type.startsWith('toggleadmin.feature-potentially-stale-')) return;
  last = last.then(() => update(event), () => update(event));
  await last.catch((error) => {
    issues = undefined; // an issue may have been created: read them again
    throw error;
  });
}
