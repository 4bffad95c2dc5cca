// A chat message for each toggle that becomes potentially stale. CHAT_URL is the incoming webhook of a chat
// that accepts {"text": …}, such as Slack or Mattermost. A message may appear twice.
export async function handle(event) {
  if (event.type !== 'toggleadmin.feature-potentially-stale-on') return;
  const { featureName, project, lifetimeDays } = event.data;
  const response = await fetch(process.env.CHAT_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      text: `Toggle ${featureName} (${project}) is older than ${lifetimeDays} days. Can it be removed?`,
    }),
  });
  if (!response.ok) throw new Error(`the chat responds with ${response.status}`);
}
