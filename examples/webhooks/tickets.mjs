// Makes a ticket for each test that becomes flaky or broken, and links it to the test.
//
//   npm install standardwebhooks
//   SLUICE_URL=https://sluice.acme.dev SLUICE_TOKEN=... SLUICE_REPO=github.com/acme/app \
//   SLUICE_WEBHOOK_SECRET=whsec_... TRACKER_URL=https://tracker.acme.dev/tickets PORT=8082 node tickets.mjs
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const {
  SLUICE_URL,
  SLUICE_TOKEN,
  SLUICE_REPO = '',
  SLUICE_WEBHOOK_SECRET = '',
  TRACKER_URL,
  PORT = '8082',
} = process.env;
const [, host, owner, name] = /^([^/]+)\/(.+)\/([^/]+)$/.exec(SLUICE_REPO) ?? [];
const webhook = new Webhook(SLUICE_WEBHOOK_SECRET);

const server = createServer(async (request, response) => {
  const body = await text(request);
  let event;
  try {
    event = webhook.verify(body, request.headers);
  } catch {
    response.writeHead(401).end();
    return;
  }
  try {
    if (event.type === 'test_case.status_changed') await fileTicket(event, request.headers['webhook-id']);
    response.writeHead(204).end();
  } catch (error) {
    // Sluice sends the message again, under the same id.
    console.error(error);
    response.writeHead(500).end();
  }
});

async function fileTicket({ test_case: test, status_change: { current_status: status } }, messageId) {
  // The body has the test as it is now: a test that has its ticket gets no second one.
  if (status.value === 'healthy' || test.ticket !== undefined) return;
  const ticket = await post(TRACKER_URL, {
    // The tracker makes one ticket for one key, however often the message comes.
    headers: { 'idempotency-key': messageId },
    body: {
      title: `${test.name} is ${status.value}`,
      description: `${status.reason}\n\n${test.html_url}`,
      assignees: test.codeowners,
    },
  });
  await post(`${SLUICE_URL}/v1/flaky-tests/link-ticket-to-test-case`, {
    headers: { 'x-api-token': SLUICE_TOKEN },
    body: { repo: { host, owner, name }, test_case_id: test.id, external_ticket_id: ticket.url },
  });
  console.log(`${test.name}: ${ticket.url}`);
}

async function post(url, { headers, body }) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

server.listen(Number(PORT), () => console.log(`listens on port ${server.address().port}`));
