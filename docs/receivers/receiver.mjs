// Receives events, verifies their signatures, and passes them to a handler of this folder, or prints them:
// SECRET=whsec_… PORT=4000 node receiver.mjs [chat.mjs | ticket.mjs | pull-request.mjs]
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks'; // npm install standardwebhooks

const maxBody = 1_000_000; // bytes; what is read before the signature is verified

class TooLarge extends Error {}

async function print(event) {
  console.log(event.type, event.subject);
}

async function read(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) { // so that a response can be sent
    size += chunk.length;
    if (size > maxBody) throw new TooLarge('the body is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function statusOf(error) {
  if (error instanceof TooLarge) return 413;
  return error.name === 'WebhookVerificationError' ? 401 : 500;
}

const file = process.argv[2];
const handle = file ? (await import(new URL(file, import.meta.url))).handle : print;
const webhook = new Webhook(process.env.SECRET);
const server = createServer(async (request, response) => {
  let status = 204;
  try {
    await handle(webhook.verify(await read(request), request.headers));
  } catch (error) {
    console.error(error.message);
    status = statusOf(error);
    response.setHeader('Connection', 'close'); // the rest of the body is not read
  }
  response.writeHead(status).end();
});
server.listen(process.env.PORT ?? 4000, '127.0.0.1');
