import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runSluice } from '../../test/e2e/run-sluice.ts';
import { madeOnce } from '../../test/helpers/made.ts';
import { aTest } from '../../test/helpers/store-rows.ts';
import { createInProcess, TOKEN } from '../../test/worlds/server/in-process.ts';

const ID = '4a4f1d3e-5a0b-5c8e-9a7f-0123456789ab';
const PAGE = `/acme/flaky-tests/test/${ID}`;

describe('the page behind a link to a test', () => {
  const world = madeOnce(() => createInProcess());

  const read = async (url: string) => (await world.server.inject(url)).body;
  const commandOf = (page: string) => /<pre><code>(.*)<\/code><\/pre>/.exec(page)?.[1];

  test('shows a command that works [A25]', async () => {
    const row = aTest(world.repository.id, { name: 'adds two numbers' });
    await world.apply([row]);
    const { test: details } = await world.ok<{ test: { html_url: string } }>('/v1/flaky-tests/get-test-details', {
      ...world.scope,
      test_id: row.id,
    });
    const { pathname, search } = new URL(details.html_url);
    const command = commandOf(await read(pathname + search));
    assert.equal(command, `sluice tests show ${row.id} --org acme --repo local/acme/app`);
    const address = await world.server.listen({ host: '127.0.0.1', port: 0 });
    const args = command.split(' ').slice(1);
    const { out, err } = await runSluice(args, { SLUICE_URL: address, SLUICE_TOKEN: TOKEN }).ended;
    assert.match(out, /adds two numbers/, err);
  });

  test('takes a link without a host for one of github.com, and says so [A25]', async () => {
    const page = await read(`${PAGE}?repo=acme%2Fgroup%2Fapp`);
    assert.equal(commandOf(page), `sluice tests show ${ID} --org acme --repo github.com/acme/group/app`);
    assert.match(page, /Replace <code>github.com<\/code>/);
    assert.doesNotMatch(await read(`${PAGE}?repo=acme%2Fapp&host=local`), /Replace/);
  });

  test('repeats nothing that is no name of a repository [A25]', async () => {
    const wrong = [
      '',
      '?repo=app',
      '?repo=a%2F$(date)',
      '?repo=a%2Fb&repo=c%2Fd',
      '?repo=a%2Fb&host=%3Cb%3E',
      '?host=x',
    ];
    for (const query of [...wrong, `?repo=a%2F${'x'.repeat(10_000)}`]) {
      assert.equal(commandOf(await read(PAGE + query)), `sluice tests show ${ID} --org acme`, query.slice(0, 40));
    }
  });

  test('and the page of the settings need no token, and are for names of organizations only [A26]', async () => {
    assert.match(await read('/acme/settings'), /sluice token create --name ci --scope upload --expires 90d/);
    for (const org of ['v1', 'docs', 'a%20b', '-']) {
      assert.equal((await world.server.inject(`/${org}/settings`)).statusCode, 404, org);
    }
  });
});
