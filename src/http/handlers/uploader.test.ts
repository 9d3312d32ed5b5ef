import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { until } from '../../../test/e2e/harness.ts';
import { connect } from '../../../test/e2e/harness-sockets.ts';
import { madeForEach } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { type CreatedUpload, isRetried, Uploader, type UploaderOptions } from '../../../test/helpers/uploader.ts';
import { TOKEN } from '../../../test/worlds/server/in-process.ts';
import { createUploadWorld, REPORT } from '../../../test/worlds/server/upload-server.ts';
import type { UploadPage } from '../../app/uploads/uploads.ts';
import type { Upload } from '../../storage/uploads.ts';

const HOUR_MS = 3_600_000;
const REPO = { host: 'github.com', owner: 'acme', name: 'widgets' };
const FILES = [{ path: 'junit/0', content: REPORT }];
const FAILING = {
  id: 'a98a1388-26df-5aea-845d-96cd2aaf9dc3',
  name: 'subtracts',
  parentName: 'math suite',
  className: 'math',
  file: 'src/math.test.ts',
  variant: '',
};

describe('an existing uploader', () => {
  const world = madeForEach(() => createUploadWorld());

  const uploader = (options: Partial<UploaderOptions> = {}) =>
    new Uploader({ base: world.url, token: TOKEN, org: 'acme', repo: REPO, ...options });
  const create = async (options: Partial<UploaderOptions> = {}) => {
    const answer = await uploader(options).create();
    assert.equal(answer.status, 200);
    return (await answer.json()) as CreatedUpload;
  };
  const find = async ({ id }: CreatedUpload) => (await world.store.uploads.find(id)) as Upload;
  const list = async () => {
    const body = { repo: REPO, org_url_slug: 'acme', page_query: {} };
    return (await world.ok<UploadPage>('/v1/flaky-tests/list-uploads', body)).uploads;
  };
  const bytesOf = async ({ bodyId }: Upload) => buffer(world.store.uploadBodies.read(bodyId as string, 0));

  for (const mount of ['', '/trunk']) {
    describe(`at ${mount}/v1`, () => {
      const here = () => uploader({ base: `${world.url}${mount}` });

      test('a green run makes three calls, one with failures four, and all succeed [U19]', async () => {
        assert.deepEqual(await here().run(FILES), [200, 200, 200]);
        assert.deepEqual(await here().run(FILES, [FAILING]), [200, 200, 200, 200]);
        const uploads = await list();
        assert.deepEqual(pluck(uploads, 'status', 'files'), [
          ['ACCEPTED', 1],
          ['ACCEPTED', 1],
        ]);
        assert.equal(world.wakes(), 2);
      });

      test('an address that ends with a slash is the same one [U19]', async () => {
        assert.deepEqual(await uploader({ base: `${world.url}${mount}/` }).run(FILES), [200, 200, 200]);
      });

      test('a permanent error has a status that clients do not retry [U19]', async () => {
        const base = `${world.url}${mount}`;
        for (const [options, expected] of [
          [{ token: 'nobody' }, 401],
          [{ token: ' ' }, 401],
          [{ token: undefined }, 401],
          [{ org: 'other' }, 404],
          [{ repo: { ...REPO, name: '' } }, 400],
          [{ token: await world.makeToken({ scopes: ['read'] }) }, 403],
          [{ token: await world.makeToken({ scopes: ['upload'], repositories: [world.scope.repo] }) }, 404],
        ] as const) {
          const answer = await uploader({ base, ...options }).create();
          assert.equal(answer.status, expected);
          assert.ok(!isRetried(answer.status));
        }
      });

      test('a public repository id is no permission', async () => {
        const answer = await fetch(`${world.url}${mount}/v1/metrics/createBundleUpload`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-trunk-public-repo-id': 'x' },
          body: JSON.stringify({ repo: REPO, orgUrlSlug: 'acme', clientVersion: 'x', remoteUrls: [] }),
        });
        assert.equal(answer.status, 401);
      });

      test('figures about itself are taken with any token, or none [U60] [A19]', async () => {
        for (const token of [TOKEN, 'nobody', undefined]) {
          const answer = await uploader({ base: `${world.url}${mount}`, token }).tell(true);
          assert.equal(answer.status, 200);
        }
      });

      test('older clients ask for more, and get it', async () => {
        const headers = { 'content-type': 'application/json', 'x-api-token': TOKEN };
        for (const [method, path] of [
          ['POST', '/repo/create'],
          ['PATCH', '/metrics/updateBundleUpload'],
        ] as const) {
          const url = `${world.url}${mount}/v1${path}`;
          assert.equal((await fetch(url, { method, headers, body: '{}' })).status, 200);
          assert.equal(
            (await fetch(url, { method, headers: { ...headers, 'x-api-token': 'x' }, body: '{}' })).status,
            401,
          );
        }
      });
    });
  }

  describe('its bundle', () => {
    test('is stored as it came, with the repository that it makes [U17] [U18] [A19]', async () => {
      const created = await create();
      assert.equal(created.url.indexOf(`${world.url}/uploads/${created.id}?`), 0);
      assert.equal((await find(created)).status, 'PENDING');
      assert.deepEqual(await list(), []);
      const bundle = uploader().pack(created, FILES);
      assert.equal((await uploader().put(created.url, bundle)).status, 200);
      const upload = await find(created);
      assert.ok((await bytesOf(upload)).equals(bundle));
      assert.deepEqual([upload.status, upload.kind, upload.fields], ['ACCEPTED', 'bundle', null]);
      assert.deepEqual(upload.files, [{ name: 'bundle.tar.zstd', encoding: 'zstd', sizeBytes: bundle.length }]);
      assert.match(upload.clientVersion ?? '', /^trunk-analytics-cli/);
    });

    test('put twice, or by two at once, is the first that came whole [U59]', async () => {
      const created = await create();
      const first = uploader().pack(created, FILES);
      assert.equal((await uploader().put(created.url, first)).status, 200);
      assert.equal((await uploader().put(created.url, Buffer.from('another'))).status, 200);
      assert.ok((await bytesOf(await find(created))).equals(first));
      const again = await create();
      const bundles = Array.from({ length: 8 }, (_, index) => uploader().pack(again, FILES, { variant: `${index}` }));
      const answers = await Promise.all(bundles.map((bundle) => uploader().put(again.url, bundle)));
      assert.ok(answers.every(({ status }) => status === 200));
      const kept = await bytesOf(await find(again));
      assert.equal(bundles.filter((bundle) => bundle.equals(kept)).length, 1);
      assert.deepEqual([world.bodies().length, world.wakes(), (await list()).length], [2, 2, 2]);
    });

    test('put by halves leaves nothing, and can be put again [U59]', async () => {
      const created = await create();
      const bundle = uploader().pack(created, FILES);
      const { pathname, search } = new URL(created.url);
      const connection = await connect(world.port);
      const head = [`PUT ${pathname}${search} HTTP/1.1`, 'host: sluice.test', 'content-type: application/octet-stream'];
      // Large enough that a piece of it is written already.
      connection.write(`${[...head, `content-length: ${1024 * 1024}`].join('\r\n')}\r\n\r\n`);
      connection.write(Buffer.alloc(512 * 1024));
      await until('some of it is stored', 10_000, async () => (world.bodies().length === 1 ? true : undefined));
      connection.destroy();
      await until('nothing of it is left', 10_000, async () => (world.bodies().length === 0 ? true : undefined));
      assert.equal((await find(created)).status, 'PENDING');
      assert.equal((await uploader().put(created.url, bundle)).status, 200);
      assert.equal((await find(created)).status, 'ACCEPTED');
    });

    test('put late is 403 [U18]', async () => {
      const created = await create();
      world.clock.set(world.clock.now() + HOUR_MS);
      assert.equal((await uploader().put((await create()).url, Buffer.from('x'))).status, 200);
      world.clock.set(world.clock.now() + 1);
      assert.equal((await uploader().put(created.url, Buffer.from('x'))).status, 403);
      assert.equal((await find(created)).status, 'PENDING');
    });

    test('put to the address of another upload, or to an altered one, is refused [U18]', async () => {
      const [mine, other] = [await create(), await create()];
      const url = new URL(mine.url);
      const altered = (change: (url: URL) => void) => {
        const copy = new URL(url);
        change(copy);
        return copy.href;
      };
      for (const address of [
        altered((copy) => {
          copy.pathname = `/uploads/${other.id}`;
        }),
        altered((copy) => copy.searchParams.set('expires', String(world.clock.now() + 100 * HOUR_MS))),
        altered((copy) => copy.searchParams.set('signature', '')),
        altered((copy) => copy.searchParams.set('signature', 'x'.repeat(43))),
        altered((copy) => copy.searchParams.append('signature', 'x')),
        altered((copy) => copy.searchParams.delete('expires')),
        altered((copy) => {
          copy.search = '';
        }),
        `${world.url}/uploads/nothing?expires=1&signature=x`,
      ]) {
        const { status } = await uploader().put(address, Buffer.from('x'));
        assert.equal(status, 403, address);
      }
      assert.deepEqual(
        [(await find(mine)).status, (await find(other)).status, world.bodies()],
        ['PENDING', 'PENDING', []],
      );
    });

    test('put empty is 400, and one that is no bundle is for processing to judge', async () => {
      const created = await create();
      assert.equal((await uploader().put(created.url, Buffer.alloc(0))).status, 400);
      assert.equal((await uploader().put(created.url, Buffer.from('no bundle'))).status, 200);
      assert.deepEqual((await find(created)).files[0]?.encoding, 'identity');
    });

    test('needs no token, and its address never reaches the log', async () => {
      const lines: unknown[] = [];
      const log = {
        debug: () => undefined,
        info: (facts: object) => void lines.push(facts),
        warn: () => undefined,
        error: () => undefined,
      };
      const other = await createUploadWorld({ log });
      try {
        const client = new Uploader({ base: other.url, token: TOKEN, org: 'acme', repo: REPO });
        const created = (await (await client.create()).json()) as CreatedUpload;
        assert.equal((await client.put(created.url, Buffer.from('x'))).status, 200);
        const signature = new URL(created.url).searchParams.get('signature') as string;
        assert.ok(lines.length >= 2);
        assert.ok(!JSON.stringify(lines).includes(signature));
      } finally {
        await other.close();
      }
    });

    for (const [trustedProxies, scheme] of [
      [[], 'http'],
      [['192.0.2.0/24'], 'http'],
      [['127.0.0.0/8'], 'https'],
    ] as const) {
      test(`is ${scheme} behind a TLS proxy on this machine where [${trustedProxies}] are trusted [H33]`, async () => {
        const other = await createUploadWorld({ trustedProxies });
        try {
          const response = await fetch(`${other.url}/v1/metrics/createBundleUpload`, {
            method: 'POST',
            headers: {
              'x-api-token': TOKEN,
              'content-type': 'application/json',
              'x-forwarded-proto': 'https',
              'x-forwarded-host': 'evil.test',
            },
            body: JSON.stringify({ repo: REPO, orgUrlSlug: 'acme', clientVersion: 'x' }),
          });
          const { url } = (await response.json()) as CreatedUpload;
          assert.equal(new URL(url).origin, `${scheme}://${new URL(other.url).host}`);
        } finally {
          await other.close();
        }
      });
    }

    test('goes to the public address of the server where it has one', async () => {
      const other = await createUploadWorld({ publicUrl: 'https://sluice.acme.test' });
      try {
        const client = new Uploader({ base: other.url, token: TOKEN, org: 'acme', repo: REPO });
        const { url } = (await (await client.create()).json()) as CreatedUpload;
        assert.equal(new URL(url).origin, 'https://sluice.acme.test');
      } finally {
        await other.close();
      }
    });
  });

  test('prints links to tests, whose page shows the command that reads the test', async () => {
    const page = await fetch(`${world.url}/acme/flaky-tests/test/${FAILING.id}?repo=acme%2Fwidgets`);
    assert.equal(page.status, 200);
    assert.match(await page.text(), new RegExp(`sluice tests show ${FAILING.id}`));
    for (const path of ['/acme/flaky-tests/test/%3Cscript%3E', `/v1/flaky-tests/test/${FAILING.id}`]) {
      assert.equal((await fetch(`${world.url}${path}`)).status, 404);
    }
  });
});
