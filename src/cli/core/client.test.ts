import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { Client } from './client.ts';
import { CliError } from './exit.ts';

interface Asked {
  readonly outcome: unknown;
  readonly said: readonly string[];
  readonly requests: number;
}

/** Asks a server that answers with these, one after another, and the last one again and again. */
async function ask(answers: readonly RequestListener[]): Promise<Asked> {
  let requests = 0;
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests, answers.length - 1)] as RequestListener;
    requests += 1;
    request.resume().on('end', () => answer(request, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const client = new Client({ url: `http://127.0.0.1:${port}`, token: () => ({ secret: 's', source: 'a test' }) });
  const said: string[] = [];
  client.onWait = (text) => said.push(text);
  const outcome = await client.call('listRepositories', {}).catch((error: unknown) => error);
  server.closeAllConnections();
  server.close();
  return { outcome, said, requests };
}

function refuse(status: number, headers: Readonly<Record<string, string>>): RequestListener {
  const problem = { status, code: 'BUSY', detail: 'Not now.' };
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/problem+json', ...headers }).end(JSON.stringify(problem));
}

const accept: RequestListener = (_request, response) =>
  response.setHeader('content-type', 'application/json').end('{"repositories":[]}');

describe('a server that turns a call away for now [W21]', () => {
  it('is asked again when it says, and standard error hears of it', async () => {
    const { outcome, said, requests } = await ask([
      refuse(429, { 'retry-after': '0' }),
      refuse(503, { 'retry-after': new Date(0).toUTCString() }),
      accept,
    ]);
    assert.deepEqual(outcome, { repositories: [] });
    assert.equal(requests, 3);
    assert.match(
      said.join('\n'),
      /^The server limits .*HTTP 429.*in 0 s\.\nNot now \(HTTP 503\)\. Trying again in 0 s\.$/,
    );
  });

  it('is given up after five more calls', async () => {
    const { outcome, requests } = await ask([refuse(503, { 'retry-after': '0' })]);
    assert.ok(outcome instanceof CliError);
    assert.deepEqual([outcome.status, outcome.exitCode, requests], [503, 3, 6]);
  });

  for (const [when, status, headers] of [
    ['without Retry-After', 503, {}],
    ['for longer than a minute', 429, { 'retry-after': '61' }],
    ['for a reason that stays', 409, { 'retry-after': '0' }],
  ] as const) {
    it(`is not asked again where it refuses ${when}`, async () => {
      const { outcome, requests } = await ask([refuse(status, headers)]);
      assert.ok(outcome instanceof CliError);
      assert.deepEqual([outcome.status, requests], [status, 1]);
    });
  }
});

it('a call that breaks is repeated once where it only reads', async () => {
  const { outcome, requests } = await ask([(_request, response) => response.destroy(), accept]);
  assert.deepEqual([outcome, requests], [{ repositories: [] }, 2]);
});
