import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

describe('npm run simulate', () => {
  it('runs seeds, and says how to run one again', async () => {
    const { stdout, stderr } = await run(process.execPath, [MAIN, '--seeds', '4']);
    assert.match(stdout + stderr, /4 seeds in .* 0 failed/);
  });

  it('teaches, and names the command that compares settings', async () => {
    const { stdout } = await run(process.execPath, [MAIN, '--help']);
    assert.match(stdout, /npm run simulate[\s\S]*`sluice simulate` is something else/);
  });

  it('refuses an unknown option with a sentence', async () => {
    await assert.rejects(run(process.execPath, [MAIN, '--sedes', '4']), /--sedes/);
  });
});
