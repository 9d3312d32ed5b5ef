import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { LineWriter } from './line-writer.ts';

const WRITER = JSON.stringify(new URL('./line-writer.ts', import.meta.url).href);

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
      writer.writeOut();
      writer.writeOut();
    });
    assert.equal(text, 'a\n');
  });

  it('writes what waits behind a reader that was slow [H29]', async () => {
    const script = `
      import { LineWriter } from ${WRITER};
      const writer = new LineWriter(2);
      writer.write('x'.repeat(2_000_000) + '\\n');
      writer.write('waits\\n');
      setTimeout(() => process.stdout.write('now'), 500);
      process.stdin.resume();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    await once(child.stdout, 'data');
    let text = '';
    for await (const chunk of child.stderr.setEncoding('utf8')) {
      text += chunk;
      if (text.endsWith('waits\n')) child.stdin.end();
    }
    assert.equal(text, `${'x'.repeat(2_000_000)}\nwaits\n`);
  });

  it('loses no urgent line to kill -9, into a file, a pipe or a socket [H12]', async () => {
    const script = `
      import { LineWriter } from ${WRITER};
      const writer = new LineWriter(2);
      writer.write('before\\n');
      writer.write('urgent\\n', { isUrgent: true });
      writer.write('after\\n');
      process.kill(process.pid, 'SIGKILL');`;
    const env = { ...process.env, SCRIPT: script };
    const command = `"${process.execPath}" --input-type=module -e "$SCRIPT"`;
    const file = join(mkdtempSync(join(tmpdir(), 'sluice-lines-')), 'log');
    spawnSync('bash', ['-c', `${command} 2>>"${file}"`], { env });
    assert.equal(readFileSync(file, 'utf8'), 'before\nurgent\n', 'file');
    rmSync(dirname(file), { recursive: true });
    const piped = spawnSync('bash', ['-c', `(${command}) 2>&1 >/dev/null | cat`], { env });
    assert.equal(piped.stdout.toString(), 'before\nurgent\n', 'pipe');
    const socket = spawnSync(process.execPath, ['--input-type=module', '-e', script]);
    assert.equal(socket.stderr.toString(), 'before\nurgent\n', 'socket');
  });

  it('does not wait for a reader that does not read, and says how many lines it lost when he does [H29]', async () => {
    const script = `
      import { LineWriter } from ${WRITER};
      const writer = new LineWriter(2);
      for (let n = 0; n < 400; n++) writer.write('x'.repeat(100_000) + '\\n', { isUrgent: true });
      process.stdout.write('written');
      process.stdin.resume();
      process.stdin.on('end', async () => { await writer.flush(); writer.write('after\\n'); await writer.flush(); });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' });
    await once(child.stdout, 'data');
    child.stdin.end();
    let text = '';
    for await (const chunk of child.stderr.setEncoding('utf8')) text += chunk;
    const kept = text.split('\n').filter((line) => line.length === 100_000).length;
    const dropped = Number(/"dropped":(\d+)/.exec(text)?.[1]);
    assert.ok(dropped > 0);
    assert.equal(kept + dropped, 400);
    assert.ok(text.endsWith('after\n'));
  });

  it('goes silent when the reader is gone, and does not keep the process', () => {
    const script = `
      import { LineWriter } from ${WRITER};
      const writer = new LineWriter(2);
      process.on('exit', () => writer.writeOut());
      for (let n = 0; n < 10; n++) { writer.write('x'.repeat(100_000) + '\\n'); await writer.flush(); }
      writer.write('more\\n');`;
    const command = `"${process.execPath}" --input-type=module -e "$SCRIPT" 2>&1 >/dev/null | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout } = spawnSync('bash', ['-c', command], { env: { ...process.env, SCRIPT: script }, timeout: 20_000 });
    assert.equal(stdout.toString().trim(), '0');
  });
});
