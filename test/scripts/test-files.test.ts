import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

interface TestFiles {
  runTestFiles(options: {
    readonly node: string;
    readonly cwd: string;
    readonly together: readonly string[];
    readonly apart: readonly string[];
    readonly limitOf: (file: string) => number;
    readonly write: (text: string) => void;
    readonly endingMs: number;
  }): Promise<{ readonly passed: number; readonly failed: number; readonly problems: readonly string[] }>;
}

// Plain JavaScript, because it runs before TypeScript can.
const { runTestFiles } = (await import(new URL('../../scripts/lib/test-files.mjs', import.meta.url).href)) as TestFiles;

const PASSES = `import { it } from 'node:test'; it('passes', () => {});`;
const FAILS = `import { it } from 'node:test'; it('fails', () => { throw new Error('on purpose'); });`;
const BREAKS = `throw new Error('cannot be loaded');`;
const CRASHES = `import { it } from 'node:test'; it('crashes', () => process.exit(7));`;
/** Without a turn of the event loop no timer of its own process could ever stop it. */
const LOOPS = `import { it } from 'node:test'; it('loops', async () => { for (;;) await undefined; });`;
const WAITS = `import { it } from 'node:test'; it('waits', () => new Promise(() => setInterval(() => {}, 1000)));`;
const LEAVES = `import { it } from 'node:test'; it('passes', () => void setInterval(() => {}, 1000));`;
/** It ends itself after a while, so that a failing test leaves nothing behind for good. */
const SPAWNS = `
import { it } from 'node:test';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
it('starts a process in a group of its own and waits for it', () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120000)'], { detached: true, stdio: 'inherit' });
  writeFileSync(new URL('child.pid', import.meta.url), String(child.pid));
  return new Promise((resolve) => child.on('exit', resolve));
});`;

const FILES = { PASSES, FAILS, BREAKS, CRASHES, LOOPS, WAITS, LEAVES, SPAWNS };
type Name = keyof typeof FILES;

describe('the runner of tests', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-test-files-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, `${name}.mjs`), text);
    for (const name of ['PASSES-2', 'PASSES-3']) await writeFile(join(folder, `${name}.mjs`), PASSES);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(together: readonly (Name | 'PASSES-2' | 'PASSES-3')[], apart: readonly Name[] = []) {
    const file = (name: string) => `${name}.mjs`;
    let output = '';
    const result = await runTestFiles({
      node: process.execPath,
      cwd: folder,
      together: together.map(file),
      apart: apart.map(file),
      limitOf: (path) => (/LOOPS|WAITS|SPAWNS/.test(path) ? 3_000 : 60_000),
      write: (text) => {
        output += text;
      },
      endingMs: 3_000,
    });
    return { ...result, output };
  }

  it('ends a file that never yields, names it, and goes on with the others', async () => {
    const { passed, failed, problems } = await run(['PASSES', 'LOOPS', 'PASSES-2'], ['PASSES']);
    assert.deepEqual([passed, failed], [3, 0]);
    assert.deepEqual(problems, ['LOOPS.mjs: took longer than its limit of 3 s (scripts/lib/test-limits.mjs)']);
  });

  it('ends a file that waits for ever, in a process of its own too', async () => {
    const { passed, problems } = await run(['WAITS', 'PASSES'], ['WAITS']);
    assert.equal(passed, 1);
    assert.deepEqual(
      problems.map((problem) => problem.split(':')[0]),
      ['WAITS.mjs', 'WAITS.mjs'],
    );
  });

  it('ends every process that an overdue file has started', async () => {
    const { problems } = await run([], ['SPAWNS']);
    assert.equal(problems.length, 1);
    const pid = Number(readFileSync(join(folder, 'child.pid'), 'utf8'));
    assert.equal(isAlive(pid), false);
  });

  it('names a file whose process does not end after its tests', async () => {
    const { passed, problems } = await run([], ['LEAVES']);
    assert.equal(passed, 1);
    assert.match(problems.join('\n'), /^LEAVES\.mjs: all tests ended, and the process did not within 3 s$/);
  });

  it('goes on after a file that ends the process, and after one that cannot be loaded', async () => {
    const { passed, problems } = await run(['PASSES', 'CRASHES', 'BREAKS', 'PASSES-2']);
    assert.equal(passed, 2);
    assert.equal(problems[0], 'CRASHES.mjs: failed, with exit code 7');
    assert.equal(problems.length, 2);
  });

  it('shows why a test failed', async () => {
    const { passed, failed, problems, output } = await run(['PASSES', 'FAILS'], ['FAILS']);
    assert.deepEqual([passed, failed, problems.length], [1, 2, 2]);
    assert.equal(output.match(/Error: on purpose/g)?.length, 2);
  });
});

/** A process that was ended and not yet waited for is dead, too. */
function isAlive(pid: number): boolean {
  if (existsSync('/proc/self/stat')) {
    try {
      return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
