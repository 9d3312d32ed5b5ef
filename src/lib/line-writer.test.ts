import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LineWriter } from './line-writer.ts';

function writtenBy(use: (writer: LineWriter) => Promise<void>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lines-'));
  const file = join(folder, 'log');
  const fd = openSync(file, 'w');
  return use(new LineWriter(fd))
    .then(() => readFileSync(file, 'utf8'))
    .finally(() => {
      closeSync(fd);
      rmSync(folder, { recursive: true });
    });
}

describe('LineWriter', () => {
  it('writes every line once, in order, however many come at once', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${'é'.repeat(index % 60)}\n`);
    const text = await writtenBy(async (writer) => {
      for (const line of lines) writer.write(line);
      await writer.flush();
      writer.write('last\n');
      await writer.flush();
    });
    assert.equal(text, `${lines.join('')}last\n`);
  });

  it('writes what waits when the process ends', async () => {
    const text = await writtenBy(async (writer) => {
      writer.write('a\n');
      writer.flushSync();
      writer.flushSync();
    });
    assert.equal(text, 'a\n');
  });

  it('says how many lines were lost when more came than could be kept', async () => {
    const text = await writtenBy(async (writer) => {
      const line = `${'x'.repeat(99_999)}\n`;
      for (let count = 0; count < 200; count++) writer.write(line);
      await writer.flush();
      writer.write('after\n');
      await writer.flush();
    });
    const kept = text.split('\n').filter((line) => line.startsWith('xxx')).length;
    const dropped = Number(/"dropped":(\d+)/.exec(text)?.[1]);
    assert.ok(dropped > 0);
    assert.equal(kept + dropped, 200);
    assert.ok(text.endsWith('after\n'));
  });

  it('goes silent when the reader is gone, and does not keep the process', () => {
    const script = `
      import { LineWriter } from ${JSON.stringify(new URL('./line-writer.ts', import.meta.url).href)};
      const writer = new LineWriter(2);
      process.on('exit', () => writer.flushSync());
      for (let n = 0; n < 10; n++) { writer.write('x'.repeat(100_000) + '\\n'); await writer.flush(); }
      writer.write('more\\n');`;
    const command = `"${process.execPath}" --input-type=module -e "$SCRIPT" 2>&1 >/dev/null | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout } = spawnSync('bash', ['-c', command], { env: { ...process.env, SCRIPT: script }, timeout: 20_000 });
    assert.equal(stdout.toString().trim(), '0');
  });
});
