import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { bundle, chunks, field, message, metaJson, type TarFile, tar, tarEntry } from '../../test/helpers/bundle.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import { compareMeta, parseMeta } from './meta.ts';
import { BUNDLE_LIMITS, readBundle, readCodeOwners, readMetaText } from './read-bundle.ts';
import { Unreadable } from './unreadable.ts';

const META = { path: 'meta.json', content: metaJson() };
const RUNS = message(field(1, field(1, message(field(2, 'adds'), field(5, 'suite'), field(7, 1)))));
const INTERNAL = { path: 'internal.bin', content: RUNS };
const REPORT = { path: 'junit/0', content: '<testsuites/>' };
const OWNERS = { path: 'CODEOWNERS', content: '* @acme/all' };

async function read(bytes: Uint8Array, limits = BUNDLE_LIMITS) {
  const parts: string[] = [];
  const issues: Issue[] = [];
  const onIssue = (issue: Issue) => issues.push(issue);
  let error: Unreadable | undefined;
  try {
    for await (const part of readBundle(() => chunks(bytes, 500), { onIssue, limits })) {
      if (part.kind === 'meta') parts.push(`meta ${part.meta.org}`);
      else parts.push(`${part.kind} ${part.originalPath} ${await readCodeOwners(part).then((text) => text?.length)}`);
    }
  } catch (caught) {
    if (!(caught instanceof Unreadable)) throw caught;
    error = caught;
  }
  return { parts, error: error?.code, detail: error?.detail, issues: issues.map(({ level, file }) => [level, file]) };
}

const READ = ['meta acme', `internal internal.bin ${RUNS.length}`, 'junit junit.xml 13', 'code-owners CODEOWNERS 11'];

describe('a bundle', () => {
  it('is read in the order in which the uploader writes it [U9]', async () => {
    const { parts, error, issues } = await read(bundle([META, INTERNAL, REPORT, OWNERS]));
    assert.deepEqual([parts, error, issues], [READ, undefined, []]);
  });

  it('is read in any other order, meta.json first all the same [U9]', async () => {
    const { parts, error } = await read(bundle([OWNERS, REPORT, META, INTERNAL]));
    assert.equal(error, undefined);
    assert.deepEqual(parts, [READ[0], READ[3], READ[2], READ[1]]);
  });

  it('has its runs where meta.json says [U9]', async () => {
    const meta = metaJson({
      file_sets: [{ file_set_type: 'Internal', files: [{ path: 'internal/0', original_path: '/x/trunk_output.bin' }] }],
      internal_bundled_file: { path: 'internal/0' },
    });
    const { parts } = await read(
      bundle([
        { ...META, content: meta },
        { ...INTERNAL, path: 'internal/0' },
      ]),
    );
    assert.equal(parts[1], `internal internal/0 ${RUNS.length}`);
    const old = { ...META, content: metaJson({ internal_bundled_file: undefined }) };
    assert.deepEqual((await read(bundle([old, REPORT]))).parts, ['meta acme', 'junit junit.xml 13']);
  });

  it('reports missing files, unused files and trailing bytes as issues [U9]', async () => {
    const extra: TarFile = { path: 'virus.exe', content: 'x' };
    const { parts, error, issues } = await read(
      Buffer.concat([bundle([META, META, extra, OWNERS]), Buffer.from('garbage')]),
    );
    assert.deepEqual([parts, error], [['meta acme', READ[3]], undefined]);
    assert.deepEqual(issues, [
      ['warning', 'meta.json'],
      ['warning', 'virus.exe'],
      ['warning', null],
      ['error', 'junit.xml'],
      ['error', 'internal.bin'],
    ]);
  });

  it('is used as far as it goes when it is cut off [U9]', async () => {
    const random = Array.from({ length: 200_000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 13).join();
    const whole = bundle([META, INTERNAL, { ...REPORT, content: random }, OWNERS]);
    const { parts, error } = await read(whole.subarray(0, whole.length / 2));
    assert.equal(error, 'TRUNCATED');
    assert.deepEqual(parts, READ.slice(0, 2));
    assert.ok(new Unreadable('TRUNCATED', '').isPartlyUsable && !new Unreadable('TOO_BIG', '').isPartlyUsable);
  });

  it('is refused when it is none, empty, hostile or a bomb [U9]', async () => {
    const limits = { ...BUNDLE_LIMITS, maxBytes: 100_000, maxEntries: 10 };
    const cases: [string, Uint8Array][] = [
      ['NOT_A_BUNDLE', Buffer.from('<testsuites></testsuites>')],
      ['NOT_A_BUNDLE', tar([META])],
      ['TRUNCATED', Buffer.alloc(0)],
      ['BAD_META', bundle([])],
      ['BAD_META', bundle([REPORT])],
      ['BAD_META', bundle([{ ...META, content: '{' }])],
      ['BAD_META', bundle([{ ...META, content: '[]' }])],
      ['BAD_META', bundle([{ ...META, content: metaJson({ org: 5 }) }])],
      ['DAMAGED', zstdCompressSync(Buffer.from('not a tar archive'.repeat(100)))],
      ['UNSAFE', bundle([META, { path: '../../etc/cron.d/x', content: 'x' }])],
      ['UNSAFE', bundle([META, { path: 'junit/0', type: '2' }])],
      ['TOO_BIG', bundle([META, { path: 'junit/0', content: Buffer.alloc(1_000_000) }])],
      ['TOO_BIG', bundle([META, ...Array.from({ length: 20 }, (_, i) => ({ path: `junit/${i}` }))])],
      ['TOO_BIG', zstdCompressSync(tarEntry({ path: 'meta.json', size: 7_000_000_000 }))],
    ];
    for (const [code, bytes] of cases) {
      const { error, detail } = await read(bytes, limits);
      assert.equal(error, code, detail);
      assert.match(detail ?? '', /^[A-Zm“].*\.$/);
    }
  });

  it('throws only its refusal on arbitrary bytes [U9]', async () => {
    const plain = tar([META, INTERNAL, REPORT, OWNERS]);
    const mutated = fc.array(fc.tuple(fc.nat(plain.length - 1), fc.nat(255)), { maxLength: 8 }).map((changes) => {
      const bytes = Buffer.from(plain);
      for (const [at, byte] of changes) bytes[at] = byte;
      return zstdCompressSync(bytes);
    });
    await fc.assert(
      fc.asyncProperty(mutated, async (bytes) => {
        await read(bytes);
      }),
      { numRuns: 300 },
    );
  });
});

describe('meta.json', () => {
  it('is read as far as it is used, and lenient beyond [U10]', () => {
    const meta = parseMeta(
      metaJson({ variant: 'x'.repeat(80), upload_time_epoch: 'soon', num_tests: -1, new_key: {} }),
    );
    assert.equal(meta.variant.length, 64);
    assert.deepEqual(meta.commit, {
      sha: '0123456789abcdef0123456789abcdef01234567',
      branch: 'refs/heads/main',
      message: 'Add adding',
      authorName: 'Dev',
      authorEmail: 'dev@acme.test',
      isUncloned: false,
    });
    assert.deepEqual(meta.fileSets, [{ kind: 'junit', files: [{ path: 'junit/0', originalPath: 'junit.xml' }] }]);
    assert.deepEqual(
      [...meta.envs],
      [
        ['CUSTOM', 'true'],
        ['COMMIT_BRANCH', 'main'],
      ],
    );
  });

  it('of the oldest clients has only the base keys [U10]', () => {
    const { org, repo, bundle_upload_id } = JSON.parse(metaJson());
    const meta = parseMeta(JSON.stringify({ version: '1', org, repo, bundle_upload_id, envs: {}, file_sets: [] }));
    assert.deepEqual([meta.internalPath, meta.bundleUploadIdV2, meta.variant], [null, null, '']);
  });

  it('that contradicts its URL is told with what differs [U56]', () => {
    const meta = parseMeta(metaJson());
    const repository = { host: 'github.com', owner: 'acme', name: 'widgets' };
    const expected = { org: 'acme', repository, id: 'upload-1', idV2: 'upload-1-v2' };
    assert.equal(compareMeta(meta, expected), undefined);
    assert.match(compareMeta(meta, { ...expected, org: 'evil' }) ?? '', /organization "acme" instead of "evil"/);
    assert.match(compareMeta(meta, { ...expected, repository: { ...repository, name: 'x' } }) ?? '', /repository/);
    assert.match(compareMeta(meta, { ...expected, id: 'other' }) ?? '', /upload "upload-1"/);
    assert.match(compareMeta(meta, { ...expected, idV2: 'other' }) ?? '', /second upload id/);
  });

  it('never gets past its parser with anything but a refusal', () => {
    fc.assert(
      fc.property(fc.json(), fc.anything(), (text, value) => {
        for (const each of [text, metaJson({ repo: value, file_sets: value, envs: value })]) {
          try {
            parseMeta(each);
          } catch (error) {
            assert.ok(error instanceof Unreadable, String(error));
          }
        }
      }),
    );
  });
});

const readMetaJson = async (text: string, size = 7, maxBytes?: number) =>
  JSON.parse(await readMetaText(chunks(Buffer.from(text), size), maxBytes)) as unknown;

describe('the text of meta.json [U55]', () => {
  it('has no lists of tests, wherever they stand', async () => {
    const tests = [{ name: 'a "b" \\ ], }', failure_message: '{"failed_tests": [' }, [1, { x: [] }]];
    const whole = {
      failed_tests: tests,
      org: 'acme',
      envs: { failed_tests: 'kept' },
      quarantined_tests: tests,
      os: 'é',
    };
    const expected = { ...whole, failed_tests: null, quarantined_tests: null };
    for (const indent of [0, 2]) {
      for (const size of [1, 3, 1_000])
        assert.deepEqual(await readMetaJson(JSON.stringify(whole, null, indent), size), expected);
    }
    assert.deepEqual(await readMetaJson('{"failed_tests" : 7 }'), { failed_tests: null });
    assert.deepEqual(await readMetaJson('{"org":"failed_tests","x":":"}'), { org: 'failed_tests', x: ':' });
  });

  it('is otherwise as it came', async () => {
    await fc.assert(
      fc.asyncProperty(fc.object({ maxDepth: 3 }), fc.integer({ min: 1, max: 50 }), async (value, size) => {
        const text = JSON.stringify(value);
        assert.deepEqual(await readMetaJson(text, size), JSON.parse(text));
      }),
    );
  });

  it('may have fields of any length that are left out, and is refused where a kept one is too long', async () => {
    const long = 'x'.repeat(5_000);
    assert.deepEqual(await readMetaJson(JSON.stringify({ failed_tests: [long, long] }), 100, 1_000), {
      failed_tests: null,
    });
    await assert.rejects(
      () => readMetaJson(JSON.stringify({ envs: { long } }), 100, 1_000),
      (error) => error instanceof Unreadable && error.code === 'TOO_BIG',
    );
  });

  it('that is no JSON comes as it is', async () => {
    for (const text of ['', '}}]] "', '{"failed_tests":[', 'null', '"', '\\']) {
      assert.equal(typeof (await readMetaText(chunks(Buffer.from(text), 2))), 'string');
    }
  });
});
