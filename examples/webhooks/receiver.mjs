// A receiver of webhooks that checks signatures, and prints each event once.
//
//   npm install standardwebhooks
//   SLUICE_WEBHOOK_SECRET=whsec_... PORT=8081 node receiver.mjs
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.SLUICE_WEBHOOK_SECRET ?? '');
// A message may come twice, with the same id. A real receiver keeps the ids in its database.
const seen = new Set();

const server = createServer(async (request, response) => {
  // The signature covers these bytes: parse nothing before it is checked.
  const body = await text(request);
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  const id = request.headers['webhook-id'];
  if (!seen.has(id)) console.log(event.type, event.pr_number ?? '');
  seen.add(id);
  // Answer within 15 seconds. Longer work belongs behind the answer.
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8081), () => console.log(`listens on port ${server.address().port}`));
