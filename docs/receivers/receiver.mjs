// Receives events, verifies their signatures, and passes them to a handler of this folder, or prints them:
// SECRET=whsec_… PORT=4000 node receiver.mjs [chat.mjs | ticket.mjs | pull-request.mjs]
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

async function print(event) {
  console.log(event.type, event.subject);
}

const file = process.argv[2];
const handle = file ? (await import(new URL(file, import.meta.url))).handle : print;
const webhook = new Webhook(process.env.SECRET);
const server = createServer(async (request, response) => {
  let status = 204;
  try {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    await handle(webhook.verify(Buffer.concat(chunks), request.headers));
  } catch (error) {
    console.error(error.message);
    status = error.name === 'WebhookVerificationError' ? 401 : 500;
  }
  response.writeHead(status).end();
});
server.listen(process.env.PORT ?? 4000, '127.0.0.1');
