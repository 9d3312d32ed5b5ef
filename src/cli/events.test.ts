import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { sluice } from '../../test/e2e/kept-sluice.ts';
import { createInProcess, type InProcess, TOKEN } from '../../test/worlds/server/in-process.ts';
import { formatEvents } from './core/event-lines.ts';

describe('sluice events on a terminal', () => {
  const event = {
    ...{ id: '1', type: 'pull_request.queued', at: '2026-01-01T00:00:00.000Z', data: {} },
    actor: { kind: 'sluice' as const, name: 'sluice' },
    repo: { host: 'github.com', owner: 'acme', name: 'app' },
    text: '#7: Ready: all requirements are met. It joined the queue.',
  };

  it('has the sentence in lines of its own where a table would leave it no room [W47]', () => {
    for (const width of [80, 40]) {
      const lines = stripVTControlCharacters(formatEvents([event], width))
        .trimEnd()
        .split('\n');
      assert.ok(lines.every((line) => line.length <= width));
      const sentence = lines.filter((line) => line.startsWith('  ')).map((line) => line.trim());
      assert.equal(sentence.join(' '), event.text);
      assert.equal(sentence.length, width === 80 ? 1 : 2);
    }
    assert.match(formatEvents([event], 160), /WHEN .*WHAT/);
  });
});

describe('sluice events and sluice audit', () => {
  let world: InProcess;
  let env: Readonly<Record<string, string>>;
  let folder: string;

  before(async () => {
    world = await createInProcess();
    await world.server.listen({ port: 0, host: '127.0.0.1' });
    const { port } = world.server.server.address() as AddressInfo;
    env = { SLUICE_URL: `http://127.0.0.1:${port}`, SLUICE_TOKEN: TOKEN };
    folder = await mkdtemp(path.join(tmpdir(), 'sluice-audit-'));
    for (const name of ['one', 'two', 'three']) await world.ok('/v1/createApiToken', { name, scopes: ['read'] });
  });
  after(async () => {
    await world.close();
    await rm(folder, { recursive: true });
  });

  const run = (...args: string[]) => sluice(args, { env });

  it('lists events with the newest last, by type [W47]', async () => {
    const { out, code } = await run('events', '--type', 'token.*');
    assert.equal(code, 0);
    const lines = out.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => line.split('\t').slice(1)),
      ['one', 'two', 'three'].map((name) => ['token.created', '-', `admin created the token "${name}" (read).`]),
    );
    const unknown = await run('events', '--type', 'token.create');
    assert.equal(unknown.code, 1);
    assert.match(unknown.err, /Did you mean token\.created\?/);
  });

  it('verifies the audit, and names the first record that was changed or removed [X6]', async () => {
    const sound = await run('audit', 'verify', '--json');
    const { records, digest } = JSON.parse(sound.out);
    assert.deepEqual([sound.code, records], [0, 3]);
    const { out } = await run('audit', 'export');
    const file = path.join(folder, 'audit.jsonl');
    const check = async (lines: readonly string[], ...more: string[]) => {
      await writeFile(file, lines.map((line) => `${line}\n`).join(''));
      return run('audit', 'verify', '--file', file, ...more);
    };
    const lines = out.trimEnd().split('\n');
    assert.equal((await check(lines, '--digest', digest)).code, 0);
    const changed = await check([lines[0] ?? '', (lines[1] ?? '').replaceAll('"two', '"owt'), lines[2] ?? '']);
    assert.equal(changed.code, 1);
    assert.match(changed.err, /Record 2 \(token\.created .*owt.*does not fit the one before it/);
    assert.match(
      (await check(lines.slice(1))).err,
      /Record 2 .* It is the first one, so records before it may be missing/,
    );
    assert.match((await check([lines[0] ?? '', lines[2] ?? ''])).err, /Record 3 /);
    assert.match((await check(lines.slice(0, 2), '--digest', digest)).err, /No record has the digest/);
    assert.equal((await check([...lines, 'half a li'])).code, 2);
    assert.equal((await run('audit', 'verify', '--file', path.join(folder, 'none'))).code, 2);
    assert.equal((await readFile(file, 'utf8')).split('\n').length, 5);
  });
});
