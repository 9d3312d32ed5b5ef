import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { launch, makeFolder, problemOf, startHere, startServer, type TestServer, until } from './harness.ts';
import { connect, head } from './harness-sockets.ts';
import { HAS_TERMINAL, runOnTerminal } from './run-sluice.ts';
import { createQueue } from './test-queue.ts';

const TOKEN = 'an-administrator-token-1';
const OTHER_TOKEN = 'an-administrator-token-2';

describe('the process', { concurrency: 2 }, () => {
  describe('starting', () => {
    test('only the first start prints the admin token; its file is for the owner alone, and a link for terminals [A6] [A18] [A39]', async () => {
      const SLUICE_DATA = await makeFolder();
      const first = await startServer({ SLUICE_DATA });
      assert.ok(first.output.out.includes(first.token));
      assert.ok(first.output.out.includes(`Dashboard: ${first.url}/`) && !first.output.out.includes('/login#'));
      assert.match(first.token, /^slc_/);
      assert.equal((await stat(join(SLUICE_DATA, 'admin-token'))).mode & 0o777, 0o600);
      await first.api.ok('listApiTokens', {});
      await first.stop();
      const second = await startServer({ SLUICE_DATA });
      assert.ok(!second.output.out.includes('slc_'));
      assert.equal(second.token, first.token);
      await second.api.ok('listApiTokens', {});
      await second.stop();
      if (!HAS_TERMINAL) return;
      const third = runOnTerminal(['serve'], { SLUICE_DATA, SLUICE_PORT: '0', SLUICE_RUNNER_PROTECTION: 'none' });
      await until('a link', 30_000, async () => /login#([\w-]{43})/.exec(third.output.out)?.[1]);
      third.kill('SIGTERM');
      await third.ended;
    });

    test('SLUICE_ADMIN_TOKEN is taken, stays across starts, and a new value replaces the old [A7]', async () => {
      const SLUICE_DATA = await makeFolder();
      for (const SLUICE_ADMIN_TOKEN of [TOKEN, TOKEN]) {
        const server = await startServer({ SLUICE_DATA, SLUICE_ADMIN_TOKEN, SLUICE_ORG: 'acme' });
        const { tokens } = await server.api.ok<{ tokens: unknown[] }>('listApiTokens', {});
        assert.equal(tokens.length, 1);
        assert.ok(!`${server.output.out}${server.output.err}`.includes(TOKEN));
        await server.stop();
      }
      const server = await startServer({ SLUICE_DATA, SLUICE_ADMIN_TOKEN: OTHER_TOKEN, SLUICE_ORG: 'acme' });
      await server.api.ok('createApiToken', { name: 'it has every right', scopes: ['instance'] });
      await server.api.withToken(TOKEN).refused('401 INVALID_TOKEN', 'listApiTokens', {});
      await server.stop();
      await assert.rejects(readFile(join(SLUICE_DATA, 'admin-token')));
    });

    test('SLUICE_ADMIN_TOKEN beside a token that was made up: both work', async () => {
      const SLUICE_DATA = await makeFolder();
      const first = await startHere({ SLUICE_DATA });
      await first.stop();
      const second = await startHere({ SLUICE_DATA, SLUICE_ADMIN_TOKEN: TOKEN });
      await second.api.ok('listApiTokens', {});
      await second.api.withToken(first.token).ok('listApiTokens', {});
      await second.stop();
    });

    test('a second server on the same data folder is refused with a sentence, and the first goes on [D4]', async () => {
      const SLUICE_DATA = await makeFolder();
      const first = await startHere({ SLUICE_DATA });
      const second = launch({ SLUICE_DATA, SLUICE_PORT: '0' });
      assert.equal((await second.exited).code, 1);
      assert.match(second.output.err, /^Another Sluice server already uses the data folder .+\.$/m);
      assert.doesNotMatch(second.output.err, /\n\s+at /);
      await first.api.ok('listApiTokens', {});
      await first.stop();
    });

    test('a port in use is said so, and the data folder is free again', async () => {
      const SLUICE_DATA = await makeFolder();
      const taken = net.createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => taken.once('listening', resolve));
      const { port } = taken.address() as net.AddressInfo;
      const server = launch({ SLUICE_DATA, SLUICE_PORT: String(port) });
      assert.equal((await server.exited).code, 1);
      assert.match(server.output.err, new RegExp(`^Port ${port} of 127.0.0.1 is in use\\. Set SLUICE_PORT`, 'm'));
      taken.close();
      const second = await startHere({ SLUICE_DATA });
      await second.api.ok('listApiTokens', {});
      await second.stop();
    });

    test('a data folder that is not there is made; one that is a file is refused with a sentence', async () => {
      const SLUICE_DATA = join(await makeFolder(), 'deep', 'data');
      await (await startHere({ SLUICE_DATA })).stop();
      const second = launch({ SLUICE_DATA: join(SLUICE_DATA, 'admin-token'), SLUICE_PORT: '0' });
      assert.equal((await second.exited).code, 1);
      assert.match(second.output.err, /^The data folder .+ cannot be used: .+\.$/m);
    });
  });

  describe('stopping', () => {
    test('SIGTERM finishes a request in flight, and the answer is stored [H10]', async () => {
      const SLUICE_DATA = await makeFolder();
      const server = await startServer({ SLUICE_DATA });
      const queue = await createQueue(server.api);
      const number = await queue.openPullRequest();
      const body = JSON.stringify(queue.entry(number));
      const slow = await connect(server.port);
      slow.write(`${headOf(server, 'submitPullRequest', body.length)}${body.slice(0, 10)}`);
      // The server has read the head once it answers a later request.
      await queue.getQueue();
      server.child.kill('SIGTERM');
      await untilRefused(server.port);
      slow.write(body.slice(10));
      assert.equal((await slow.answer()).status, 200);
      assert.deepEqual(await server.exited, { code: 0, signal: null });
      const second = await startHere({ SLUICE_DATA });
      assert.equal((await second.api.ok('getSubmittedPullRequest', queue.entry(number)))['state'], 'TESTING');
      await second.stop();
      await queue.close();
    });

    test('SIGTERM cuts off a request that never arrives [H10]', async () => {
      const server = await startServer();
      const slow = await connect(server.port);
      slow.write(headOf(server, 'getQueue', 10));
      await server.api.ok('listRepositories', {});
      server.child.kill('SIGTERM');
      assert.deepEqual(await server.exited, { code: 0, signal: null });
      await slow.closed();
    });

    test('SIGTERM stops it although the readers of its log are gone', async () => {
      const server = await startServer({ SLUICE_LOG_LEVEL: 'info' });
      server.child.stdout?.destroy();
      server.child.stderr?.destroy();
      server.child.kill('SIGTERM');
      await until('the server ends', 60_000, async () => server.child.exitCode ?? undefined);
    });

    test('SIGTERM closes an idle connection before a request in flight ends', async () => {
      const server = await startServer();
      const idle = await connect(server.port);
      idle.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
      await idle.answer();
      const slow = await connect(server.port);
      slow.write(`${headOf(server, 'listRepositories', 2)}{`);
      await server.api.ok('listRepositories', {});
      server.child.kill('SIGTERM');
      await idle.closed();
      slow.write('}');
      assert.equal((await slow.answer()).status, 200);
      assert.deepEqual(await server.exited, { code: 0, signal: null });
    });

    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      // `npm start` forwards the Ctrl-C that the terminal already sent to the whole group, so two are normal.
      test(`${signal} twice stops it as one does: a request in flight is still finished`, async () => {
        const server = await startServer();
        const slow = await connect(server.port);
        slow.write(`${headOf(server, 'listRepositories', 2)}{`);
        await server.api.ok('listRepositories', {});
        server.child.kill(signal);
        await untilRefused(server.port);
        server.child.kill(signal);
        slow.write('}');
        assert.equal((await slow.answer()).status, 200);
        assert.deepEqual(await server.exited, { code: 0, signal: null });
      });
    }

    test('SIGTERM makes it not ready while it serves, and another one later ends that [D38]', async () => {
      const server = await startServer({ SLUICE_DRAIN: '3600' });
      server.child.kill('SIGTERM');
      const { detail } = await until('it is not ready', 60_000, async () => {
        const answer = await server.api.send('../readyz');
        return answer.status === 200 ? undefined : problemOf(answer, '503 UNAVAILABLE');
      });
      assert.equal(detail, 'The server is stopping.');
      const served = await server.api.post('listRepositories', {});
      assert.deepEqual([served.status, served.headers.get('connection')], [200, 'close']);
      await until('it ends', 60_000, async () => {
        server.child.kill('SIGTERM');
        return server.child.exitCode ?? undefined;
      });
      assert.deepEqual(await server.exited, { code: 0, signal: null });
    });

    test('a request that comes over an open connection while it stops gets a whole answer', async () => {
      const server = await startServer();
      const slow = await connect(server.port);
      slow.write(`${headOf(server, 'listRepositories', 2)}{`);
      await server.api.ok('listRepositories', {});
      server.child.kill('SIGTERM');
      await untilRefused(server.port);
      slow.write(`}${headOf(server, 'listQueues', 2)}{}`);
      assert.equal((await slow.answer()).status, 200);
      await slow.closed();
      const rest = slow.received().split('HTTP/1.1 ').at(-1) ?? '';
      assert.ok(rest.startsWith('200'), rest);
      assert.equal((await server.exited).code, 0);
    });
  });

  test('a log line has the request id, and never a token [H2]', async () => {
    const server = await startServer({ SLUICE_LOG_LEVEL: 'debug' });
    const answer = await server.api.post('listRepositories', {});
    const requestId = answer.headers.get('x-request-id') as string;
    await until('the line is written', 60_000, async () => server.output.err.includes(requestId) || undefined);
    const line = server.output.err.split('\n').find((each) => each.includes(requestId)) as string;
    const { path, status, method } = JSON.parse(line) as Record<string, unknown>;
    assert.deepEqual([method, path, status], ['POST', '/v1/listRepositories', 200]);
    assert.ok(!server.output.err.includes(server.token));
    await server.stop();
  });
});

/** The head of a request whose body comes later. */
function headOf({ token }: TestServer, operation: string, length: number): string {
  const headers = { 'x-api-token': token, 'content-type': 'application/json', 'content-length': length };
  return head(`/v1/${operation}`, headers);
}

/** The server no longer listens: it has begun to stop. */
async function untilRefused(port: number): Promise<void> {
  await until('the port is closed', 60_000, async () => {
    try {
      (await connect(port)).destroy();
      return undefined;
    } catch {
      return true;
    }
  });
}
