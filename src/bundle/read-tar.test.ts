import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { chunks, type TarFile, tar, tarEntry, tarHeader } from '../../test/helpers/bundle.ts';
import { readTar } from './read-tar.ts';
import { Unreadable } from './unreadable.ts';

async function read(
  bytes: Uint8Array,
  { size = 700, maxEntries = 1_000, maxFileBytes = 1e9 } = {},
): Promise<[string, string][]> {
  const found: [string, string][] = [];
  for await (const entry of readTar(chunks(bytes, size), { maxEntries, maxFileBytes })) {
    const parts: Uint8Array[] = [];
    for await (const part of entry.body) parts.push(part);
    found.push([entry.path, Buffer.concat(parts).toString()]);
  }
  return found;
}

async function codeOf(bytes: Uint8Array, options = {}): Promise<string> {
  return read(bytes, options).then(
    () => 'read',
    (error: unknown) => (error instanceof Unreadable ? error.code : String(error)),
  );
}

const FILES: TarFile[] = [
  { path: 'meta.json', content: '{}' },
  { path: 'junit/', type: '5' },
  { path: 'junit/0', content: 'x'.repeat(5_000) },
  { path: './empty', content: '' },
];

describe('readTar', () => {
  it('reads files in chunks of any size', async () => {
    for (const size of [1, 511, 512, 513, 100_000]) {
      assert.deepEqual(await read(tar(FILES), { size }), [
        ['meta.json', '{}'],
        ['junit/0', 'x'.repeat(5_000)],
        ['./empty', ''],
      ]);
    }
  });

  it('skips the rest of a file that its reader leaves', async () => {
    const paths: string[] = [];
    for await (const entry of readTar(chunks(tar(FILES), 100))) {
      paths.push(entry.path);
      for await (const _ of entry.body) break;
    }
    assert.deepEqual(paths, ['meta.json', 'junit/0', './empty']);
  });

  it('reads long names of GNU and of POSIX, and sizes in base 256', async () => {
    const long = `junit/${'y'.repeat(300)}`;
    const pax = (key: string, value: string) => {
      const rest = ` ${key}=${value}\n`;
      const length = rest.length + String(rest.length + 3).length;
      return `${length}${rest}`;
    };
    const gnu = [
      tarEntry({ path: '././@LongLink', type: 'L', content: `${long}\0` }),
      tarEntry({ path: 'cut', content: 'a' }),
    ];
    const posix = [
      tarEntry({ path: 'PaxHeaders/x', type: 'x', content: pax('mtime', '1.5') + pax('path', long) }),
      tarEntry({ path: 'cut', content: 'b' }),
    ];
    assert.deepEqual(await read(Buffer.concat([...gnu, ...posix])), [
      [long, 'a'],
      [long, 'b'],
    ]);

    const header = tarHeader({ path: 'big', content: 'abc' });
    header.fill(0, 124, 136);
    header[124] = 0x80;
    header[135] = 3;
    header.write('        ', 148);
    header.write(
      `${header
        .reduce((total, byte) => total + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    const body = Buffer.alloc(512);
    body.write('abc');
    assert.deepEqual(await read(Buffer.concat([header, body])), [['big', 'abc']]);
  });

  it('refuses names that lead out, links and devices [U6]', async () => {
    for (const path of ['../x', 'a/../../x', '/etc/passwd', 'C:\\x', '..\\x', '\\\\host\\x']) {
      assert.equal(await codeOf(tar([{ path, content: 'x' }])), 'UNSAFE', path);
    }
    for (const type of ['1', '2', '3', '4', '6']) {
      assert.equal(await codeOf(tar([{ path: 'x', type }])), 'UNSAFE', type);
    }
  });

  it('refuses too many entries and names without end [U6]', async () => {
    async function* million() {
      const entry = tarEntry({ path: 'junit/1' });
      for (let i = 0; i < 1_000_000; i += 1) yield entry;
    }
    await assert.rejects(
      async () => {
        for await (const _ of readTar(million(), { maxEntries: 5_000, maxFileBytes: 1e9 }));
      },
      (error: unknown) => error instanceof Unreadable && error.code === 'TOO_BIG',
    );
    assert.equal(await codeOf(tarHeader({ path: 'x', size: 1_000_000_001 })), 'TOO_BIG');
    assert.equal(await codeOf(tarHeader({ path: 'x', type: 'L', size: 8_000_000_000 })), 'TOO_BIG');
    assert.equal(await codeOf(tarHeader({ path: 'x', type: 'x', size: 8_000_000_000 })), 'TOO_BIG');
    assert.equal(
      await codeOf(Buffer.concat(Array.from({ length: 9 }, () => tarEntry({ path: 'x', type: 'g' })))),
      'DAMAGED',
    );
  });

  it('refuses an archive that is cut off as TRUNCATED, and other bytes as DAMAGED [U6]', async () => {
    const whole = tar(FILES);
    assert.equal(await codeOf(whole.subarray(0, 1_000)), 'TRUNCATED');
    assert.equal(await codeOf(whole.subarray(0, 100)), 'TRUNCATED');
    assert.equal(await codeOf(Buffer.alloc(2_000, 'not a tar ')), 'DAMAGED');
    assert.deepEqual(await read(Buffer.alloc(0)), []);
    // Some writers omit the zeros at the end.
    assert.equal((await read(whole.subarray(0, -1_024))).length, 3);
  });

  it('throws only its refusal on arbitrary bytes', async () => {
    const valid = tar(FILES);
    const header = fc.tuple(fc.nat(511), fc.uint8Array({ minLength: 1, maxLength: 12 })).map(([at, bytes]) => {
      const block = Buffer.from(valid);
      block.set(bytes, at);
      // A valid checksum, so that the parser reads the fields.
      block.write('        ', 148);
      const sum = block.subarray(0, 512).reduce((total, byte) => total + byte, 0);
      block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
      return block;
    });
    const pax = fc
      .string({ unit: fc.constantFrom(...'0123456789 =path\nsize'), maxLength: 60 })
      .map((content) =>
        Buffer.concat([tarEntry({ path: 'x', type: 'x', content }), tarEntry({ path: 'y', content: 'z' })]),
      );
    await fc.assert(
      fc.asyncProperty(fc.oneof(header, pax, fc.uint8Array({ maxLength: 2_000 })), async (bytes) => {
        assert.match(await codeOf(bytes), /^(?:read|[A-Z_]+)$/);
      }),
      { numRuns: 500 },
    );
  });
});
