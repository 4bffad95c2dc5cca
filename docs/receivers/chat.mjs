// A chat message for each toggle that becomes potentially stale, and for each change request that waits for approvals,
// with a link. CHAT_URL is the incoming webhook of a chat that accepts {"text": …}, such as Slack or Mattermost.
// CONSOLE_URL is the address of the console. A message may appear twice. The webhook must send both types of events.
const texts = {
  'toggleadmin.feature-potentially-stale-on': ({ featureName, project, lifetimeDays }) =>
    `Toggle ${featureName} (${project}) is older than ${lifetimeDays} days. Can it be removed?`,
  'toggleadmin.change-request-sent-to-review': ({ createdBy, project, data }) =>
    `${createdBy} asks for a review: ${data.title || `change request ${data.id}`}, ${data.environment} of ${project}: `
    + `${process.env.CONSOLE_URL}/#/projects/${project}/change-requests/${data.id}`,
};

export async function handle(event) {
  const text = texts[event.type]?.(event.data);
  if (text === undefined) return;
  const response = await fetch(process.env.CHAT_URL, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ text }),
  });
  if (!response.ok) throw new Error(`the chat responds with ${response.status}`);
}
