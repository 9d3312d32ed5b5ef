import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cutBytes } from '../../lib/text.ts';
import { createLookupIds, createTestIds, cutVariant, type TestNames, uuidV5 } from './test-id.ts';

const WIDGETS = { org: 'acme', repository: { host: 'github.com', owner: 'acme', name: 'widgets' }, variant: '' };
const ADDS: TestNames = { file: 'src/math.test.ts', classname: 'math', parent: 'math suite', name: 'adds', infoId: '' };

/** The documented algorithm, with Node's SHA-1. */
function referenceUuid(text: string): string {
  const hash = createHash('sha1').update(Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex')).update(text, 'utf8');
  const bytes = hash.digest().subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 15) | 0x50;
  bytes[8] = ((bytes[8] as number) & 63) | 0x80;
  return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

describe('test ids', () => {
  it('are those the uploader documents [U1] [U50]', () => {
    const ids = createTestIds(WIDGETS);
    assert.equal(ids(ADDS), 'b4a9a104-ff27-5fa0-8700-8a8343c93cab');
    assert.equal(ids({ ...ADDS, file: '' }), '2cd4e4bf-1e58-5650-9967-c2ce163b0e2a');
    assert.equal(ids({ ...ADDS, name: 'subtracts' }), 'a98a1388-26df-5aea-845d-96cd2aaf9dc3');
    assert.equal(createTestIds({ ...WIDGETS, variant: 'linux' })(ADDS), 'f9754dbe-02f3-5773-9f47-650a9e0812d6');
  });

  it('are those of its other vectors [U50]', () => {
    // These vectors use a repository without host and owner; only the prefix differs.
    const example = (suffix: string) =>
      uuidV5(`example_org#example_repo#src/lib.rs#ExampleClass#parent/fact/path#example_name#JUNIT_TESTCASE${suffix}`);
    assert.equal(example(''), '06cb6db5-f807-5198-b072-af67a0636f8a');
    assert.equal(uuidV5(`${example('#unix')}#unix`), '1bf61475-b542-5faf-aa85-e66a691257a3');

    const rspec = {
      org: 'test-org',
      repository: { host: 'github.com', owner: 'test-org', name: 'rspec' },
      variant: '',
    };
    const named = { ...ADDS, infoId: 'trunk:./spec/example_spec.rb[2:1]-./spec/example_spec.rb:28' };
    assert.equal(createTestIds(rspec)(named), '1defca6d-177c-5958-b1df-4c4da091b71a');
    assert.equal(createTestIds({ ...rspec, variant: 'quarantined' })(named), '941fb8fd-93eb-5370-894b-734b16d8b2f0');
  });

  it('keep an id of version 5, and no other [U1]', () => {
    const ids = createTestIds(WIDGETS);
    const v5 = 'A98A1388-26df-5aea-845d-96cd2aaf9dc3';
    assert.equal(ids({ ...ADDS, infoId: v5 }), v5);
    assert.equal(ids({ ...ADDS, infoId: 'a98a1388-26df-4aea-845d-96cd2aaf9dc3' }), ids(ADDS));
    assert.equal(ids({ ...ADDS, infoId: '7' }), ids(ADDS));
    const linux = createTestIds({ ...WIDGETS, variant: 'linux' });
    assert.equal(linux({ ...ADDS, infoId: v5 }), referenceUuid(`${referenceUuid(`${v5}#linux`)}#linux`));
  });

  it('are version-5 UUIDs of any text, however long', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string({ unit: 'grapheme', maxLength: 300 })),
        (text) => assert.equal(uuidV5(text), referenceUuid(text)),
      ),
      { numRuns: 1000 },
    );
    for (let length = 0; length < 250; length += 1) {
      assert.equal(uuidV5('y'.repeat(length)), referenceUuid('y'.repeat(length)), `${length} bytes`);
    }
    assert.equal(uuidV5('ü'.repeat(300_000)), referenceUuid('ü'.repeat(300_000)));
  });

  it('have variants of at most 64 bytes, cut between characters [U2]', () => {
    assert.equal(cutVariant('x'.repeat(100)), 'x'.repeat(64));
    assert.equal(cutVariant('é'.repeat(40)), 'é'.repeat(32));
    assert.equal(cutVariant(`${'x'.repeat(63)}é`), 'x'.repeat(63));
    assert.equal(cutVariant(`${'x'.repeat(60)}😀😀`), `${'x'.repeat(60)}😀`);
    assert.equal(cutVariant(null), '');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(100), (text, max) => {
        const cut = cutBytes(text, max);
        assert.ok(text.startsWith(cut) && Buffer.byteLength(cut) <= max);
        const next = String.fromCodePoint(text.codePointAt(cut.length) ?? 0);
        assert.ok(cut === text || Buffer.byteLength(cut + next) > max);
      }),
    );
  });
});

describe('the ids of a lookup', () => {
  const lookup = createLookupIds(WIDGETS);
  const asked = {
    id: '7',
    name: 'adds',
    parentName: 'math suite',
    className: 'math',
    file: 'src/math.test.ts',
    variant: null,
  };

  it('find a test by its names, under any id that the client sent [U3]', () => {
    assert.deepEqual(lookup(asked), { sent: '7', candidates: ['7', createTestIds(WIDGETS)(ADDS)] });
  });

  it('find a test with an id attribute by the id made from it [U3]', () => {
    const { candidates } = lookup({ ...asked, id: 'trunk:x' });
    assert.ok(candidates.includes(createTestIds(WIDGETS)({ ...ADDS, infoId: 'trunk:x' })));
    const v5 = 'a98a1388-26df-5aea-845d-96cd2aaf9dc3';
    const linux = createTestIds({ ...WIDGETS, variant: 'linux' });
    assert.ok(lookup({ ...asked, id: v5, variant: 'linux' }).candidates.includes(linux({ ...ADDS, infoId: v5 })));
  });
});
