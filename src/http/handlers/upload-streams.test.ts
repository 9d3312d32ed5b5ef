import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { problemOf, until } from '../../../test/e2e/harness.ts';
import { chunk, connect, head, type RawConnection } from '../../../test/e2e/harness-sockets.ts';
import { TOKEN } from '../../../test/worlds/server/in-process.ts';
import { createUploadWorld, FIELDS, REPORT, type UploadWorld } from '../../../test/worlds/server/upload-server.ts';
import type { Upload } from '../../storage/uploads.ts';

const NO_CURL = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is not installed';
const MIB = 1024 * 1024;
const LIMIT = 100 * MIB;
const PATH = '/v1/flaky-tests/upload-results';

describe('an upload on the wire', () => {
  let world: UploadWorld;
  const connections: RawConnection[] = [];
  const folders: string[] = [];
  beforeEach(async () => {
    world = await createUploadWorld();
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.destroy();
    await world.close();
  });
  after(async () => {
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  const raw = async (port = world.port) => {
    const connection = await connect(port);
    connections.push(connection);
    return connection;
  };
  const address = `${PATH}?${new URLSearchParams(FIELDS)}`;
  const xml = (more: Record<string, string | number>) => ({
    'x-api-token': TOKEN,
    'content-type': 'application/xml',
    ...more,
  });
  const form = (more: Record<string, string | number>) => ({
    'x-api-token': TOKEN,
    'content-type': 'multipart/form-data; boundary=x',
    ...more,
  });
  const untilNothingIsLeft = () =>
    until('nothing of it is left', 10_000, async () => (world.bodies().length === 0 ? true : undefined));

  test('one byte more than 100 MiB is refused for its length, before it is sent [U15]', async () => {
    for (const headers of [xml({ 'content-length': LIMIT + 1 }), form({ 'content-length': LIMIT + 1 })]) {
      const connection = await raw();
      connection.write(head(address, headers));
      problemOf(await connection.answer(), '413 BODY_TOO_LARGE');
    }
    await world.nothingIsKept();
  });

  test('more than 100 MiB is refused while it streams; the client reads the answer, and nothing is kept [U66] [U15]', async () => {
    const connection = await raw();
    connection.write(head(address, xml({ 'transfer-encoding': 'chunked' })));
    const piece = chunk(Buffer.alloc(MIB, 'x'));
    for (let sent = 0; sent < 102; sent++) {
      connection.write(piece);
      await connection.drain();
    }
    connection.write('0\r\n\r\n');
    problemOf(await connection.answer(30_000), '413 BODY_TOO_LARGE');
    assert.equal(connection.error(), undefined);
    await untilNothingIsLeft();
    // The connection can be used again.
    connection.write(head(address, xml({ 'content-length': REPORT.length })));
    connection.write(REPORT);
    assert.equal((await connection.answer()).status, 202);
  });

  test('a refusal for its fields reaches a client that still sends 30 MiB', async () => {
    for (const [headers, query] of [
      [xml({ 'transfer-encoding': 'chunked' }), ''],
      [xml({ 'transfer-encoding': 'chunked', 'x-api-token': 'nobody' }), address],
    ] as const) {
      const connection = await raw();
      connection.socket.pause();
      connection.write(head(query || PATH, headers));
      for (let sent = 0; sent < 30; sent++) {
        connection.write(chunk(Buffer.alloc(MIB, 'x')));
        await connection.drain();
      }
      connection.write('0\r\n\r\n');
      connection.socket.resume();
      assert.match(String((await connection.answer()).status), /^40[01]$/);
      assert.equal(connection.error(), undefined);
    }
  });

  for (const [what, headers, path] of [
    ['a report', xml, address],
    ['a form', form, PATH],
  ] as const) {
    test(`${what} that breaks off leaves nothing, with or without an announced length [U66]`, async () => {
      for (const length of [{ 'content-length': 2 * MIB }, { 'transfer-encoding': 'chunked' }]) {
        const connection = await raw();
        connection.write(head(path, headers(length as Record<string, string | number>)));
        const start = '--x\r\ncontent-disposition: form-data; name="files"; filename="a.xml"\r\n\r\n';
        const bytes = Buffer.concat([Buffer.from(what === 'a form' ? start : ''), Buffer.alloc(MIB)]);
        connection.write('content-length' in length ? bytes : chunk(bytes));
        await until('some of it is stored', 10_000, async () => (world.bodies().length === 1 ? true : undefined));
        connection.destroy();
        await untilNothingIsLeft();
      }
      await world.nothingIsKept();
    });
  }

  test('one that announces less than it sends is no request, and the server goes on', async () => {
    const connection = await raw();
    connection.write(head(address, xml({ 'content-length': REPORT.length })));
    connection.write(`${REPORT}and more`);
    assert.match(String((await connection.answer()).status), /^(?:202|400)$/);
    await connection.closed();
    assert.equal((await world.send(Buffer.from(REPORT), {}, FIELDS)).status, 202);
  });

  test('one that stops arriving is 408, and leaves nothing [U22]', async () => {
    const impatient = await createUploadWorld({ requestTimeoutMs: 300 });
    try {
      for (const [headers, path] of [
        [xml({ 'content-length': 2 * MIB }), address],
        [form({ 'content-length': 2 * MIB }), PATH],
      ] as const) {
        const connection = await raw(impatient.port);
        connection.write(head(path, headers));
        connection.write('--x\r\ncontent-disposition: form-data; name="files"; filename="a.xml"\r\n\r\n');
        connection.write(Buffer.alloc(MIB));
        problemOf(await connection.answer(), '408 REQUEST_TIMEOUT');
        await connection.closed();
      }
      await impatient.nothingIsKept();
    } finally {
      await impatient.close();
    }
  });

  test('many at once are all stored, and none is lost [U22]', async () => {
    const count = 300;
    // All of them begin before the first ends.
    const half = Buffer.alloc(256 * 1024, 'x');
    const all = await Promise.all(Array.from({ length: count }, () => raw()));
    for (const [index, connection] of all.entries()) {
      const query = new URLSearchParams({ ...FIELDS, job_name: `job ${index}` });
      connection.write(head(`${PATH}?${query}`, xml({ 'content-length': 2 * half.length })));
      connection.write(half);
    }
    await until('a piece of each is stored', 60_000, async () => (world.bodies().length === count ? true : undefined));
    for (const connection of all) connection.write(half);
    const answers = await Promise.all(all.map((connection) => connection.answer(60_000)));
    assert.ok(answers.every(({ status }) => status === 202));
    const { page } = await world.ok<{ page: { total_rows: number } }>('/v1/flaky-tests/list-uploads', {
      ...world.scope,
      page_query: {},
    });
    assert.equal(page.total_rows, count);
  });

  test('curl sends a form and a report, with and without Expect', { skip: NO_CURL }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-curl-'));
    folders.push(folder);
    const file = join(folder, 'report.xml');
    const token = ['-sS', '-H', `x-api-token: ${TOKEN}`];
    const fields = Object.entries(FIELDS).flatMap(([name, value]) => ['-F', `${name}=${value}`]);
    const ids = new Set<string>();
    for (const [size, ...more] of [
      // Larger than the limit of other operations, which must not apply here.
      [21 * MIB],
      // Large enough for curl to expect an answer by itself.
      [2 * MIB],
      [2 * MIB, '-H', 'expect:'],
      [2 * MIB, '-H', 'expect: 100-continue'],
      [2 * MIB, '-H', 'transfer-encoding: chunked'],
    ] as readonly (readonly [number, ...string[]])[]) {
      await writeFile(file, Buffer.concat([Buffer.from(REPORT), Buffer.alloc(size, ' ')]));
      for (const args of [
        [...fields, '-F', `files=@${file}`, `${world.url}${PATH}`],
        ['-H', 'content-type: text/xml', '--data-binary', `@${file}`, `${world.url}${address}`],
        ['--data-binary', `@${file}`, `${world.url}${address}`],
      ]) {
        const { stdout } = await promisify(execFile)('curl', [...token, ...more, ...args]);
        ids.add((JSON.parse(stdout) as { upload_id: string }).upload_id);
      }
    }
    const stored = await Promise.all([...ids].map((id) => world.store.uploads.find(id) as Promise<Upload>));
    assert.deepEqual(
      stored.map(({ sizeBytes }) => sizeBytes - REPORT.length),
      [21 * MIB, 2 * MIB],
    );
  });
});
