import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pluck } from '../helpers/pluck.ts';

interface FileResult {
  readonly file: string;
  readonly ms: number;
  readonly cpuMs: number;
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly { readonly name: string; readonly error: string }[];
  readonly problem: string | undefined;
  readonly output: string;
}

interface Run {
  readonly results: readonly FileResult[];
  readonly problems: readonly string[];
}

interface TestFiles {
  runTestFiles(options: {
    readonly node: string;
    readonly cwd: string;
    readonly files: readonly string[];
    readonly isApart: (file: string) => boolean;
    readonly limitOf: (file: string) => number;
    readonly endingMs: number;
    readonly lanes?: number;
    readonly largeBytes?: number;
  }): Promise<Run>;
}

// Plain JavaScript, because it runs before TypeScript can.
const load = (name: string) => import(new URL(`../../scripts/lib/${name}`, import.meta.url).href);
const { runTestFiles } = (await load('test-files.mjs')) as TestFiles;

const PASSES = `import { it } from 'node:test'; it('passes', () => {});`;
const FAILS = `
import { describe, it } from 'node:test';
describe('outer', () => {
  it('passes', () => {});
  describe('inner', () => it('fails', () => { console.log('printed'); throw new Error('on purpose'); }));
  it.skip('is skipped', () => {});
});`;
const BREAKS = `throw new Error('cannot be loaded');`;
const CRASHES = `import { it } from 'node:test'; it('crashes', () => process.exit(7));`;
/** It never yields to the event loop, so no timer of its own process could stop it. */
const LOOPS = `import { it } from 'node:test'; it('loops', async () => { for (;;) await undefined; });`;
const WAITS = `import { it } from 'node:test'; it('waits', () => new Promise(() => setInterval(() => {}, 1000)));`;
const LEAVES = `import { it } from 'node:test'; it('passes', () => void setInterval(() => {}, 1000));`;
const THROWS = `
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
describe('outer', () => {
  it('throws in a timer', async () => { setTimeout(() => { throw new Error('thrown later'); }, 1); await delay(50); });
  it('rejects', async () => { void Promise.reject(new Error('rejected')); await delay(50); });
});`;
/** It notices when it runs again in the same process. */
const ADDS = `
import { it } from 'node:test';
globalThis.runs = (globalThis.runs ?? 0) + 1;
it('runs once', () => { if (globalThis.runs > 1) throw new Error('again'); });`;
/** It ends itself after a while, so that a failing test leaves no process behind. */
const SPAWNS = `
import { it } from 'node:test';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
it('starts a process in a group of its own and waits for it', () => {
  const child = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 120000)'], { detached: true, stdio: 'inherit' });
  writeFileSync(new URL('child.pid', import.meta.url), String(child.pid));
  return new Promise((resolve) => child.on('exit', resolve));
});`;

const FILES = { PASSES, FAILS, BREAKS, CRASHES, LOOPS, WAITS, LEAVES, SPAWNS, ADDS, THROWS };
type Name = keyof typeof FILES;
const COPIES = ['PASSES-2', 'PASSES-3', 'ADDS-2'] as const;

describe('the runner of tests', { concurrency: true }, () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-test-files-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, `${name}.mjs`), text);
    for (const name of COPIES) await writeFile(join(folder, `${name}.mjs`), FILES[name.split('-')[0] as Name]);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function run(
    together: readonly (Name | (typeof COPIES)[number])[],
    apart: readonly Name[] = [],
    more: { readonly lanes?: number; readonly largeBytes?: number } = {},
  ) {
    const run = await runTestFiles({
      node: process.execPath,
      cwd: folder,
      files: [...together.map((name) => `${name}.mjs`), ...apart.map((name) => `./${name}.mjs`)],
      isApart: (file) => file.startsWith('./'),
      limitOf: (path) => (/LOOPS|WAITS|SPAWNS/.test(path) ? 3_000 : 60_000),
      endingMs: 3_000,
      ...more,
    });
    const sum = (pick: (result: FileResult) => number) => run.results.reduce((total, one) => total + pick(one), 0);
    return { ...run, passed: sum((result) => result.passed), failed: sum(({ failures }) => failures.length) };
  }

  it('ends a file that never yields, names it, and goes on with the others', async () => {
    const { passed, failed, problems } = await run(['PASSES', 'LOOPS', 'PASSES-2', 'PASSES-3'], ['PASSES']);
    assert.deepEqual([passed, failed], [4, 0]);
    assert.equal(problems.length, 1);
    assert.match(problems.join(), /^LOOPS\.mjs: took longer than its limit of 3 s/);
  });

  it('ends a file that waits for ever, in a process of its own too, and names the test', async () => {
    const { passed, problems } = await run(['WAITS', 'PASSES'], ['WAITS']);
    assert.equal(passed, 1);
    const problem = 'WAITS.mjs: took longer than its limit of 3 s (scripts/lib/test-kinds.mjs), in or after "waits"';
    assert.deepEqual(problems.toSorted(), [`./${problem}`, problem]);
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
    assert.match(
      problems.join('\n'),
      /^\.\/LEAVES\.mjs: all tests ended, and the process did not within 3 s \(.*left open: Timeout\)$/,
    );
  });

  it('names the process of many files that does not end after them', async () => {
    const { problems } = await run(['LEAVES', 'LEAVES', 'PASSES', 'PASSES-2', 'PASSES-3']);
    assert.match(problems.join('\n'), /ended, and the process did not within 3 s \(LEAVES\.mjs left open: Timeout\)$/m);
  });

  it('starts another process when one has become large', async () => {
    const { passed, problems } = await run(['ADDS', 'ADDS-2'], [], { largeBytes: 1, lanes: 1 });
    assert.deepEqual([passed, problems], [2, []]);
    const shared = await run(['ADDS', 'ADDS-2'], [], { lanes: 1 });
    assert.equal(shared.failed, 1);
  });

  it('goes on after a file that ends the process, and after one that cannot be loaded', async () => {
    const { passed, failed, problems, results } = await run(['PASSES', 'CRASHES', 'BREAKS', 'PASSES-2']);
    assert.deepEqual([passed, failed], [2, 1]);
    assert.equal(problems.length, 1);
    assert.match(problems.join(), /^CRASHES\.mjs: its process ended with exit code 7/);
    const broken = results.find(({ file }) => file === 'BREAKS.mjs');
    assert.equal(broken?.failures[0]?.name, '(the whole file)');
    assert.match(broken?.failures[0]?.error ?? '', /^Error: cannot be loaded/);
  });

  it('fails a file in which nothing catches an error, names the test, and goes on', async () => {
    const { results, problems } = await run(['THROWS', 'PASSES', 'PASSES-2'], [], { lanes: 1 });
    assert.deepEqual(problems, []);
    const [throwing, ...others] = results;
    const expected = ['throws in a timer', 'rejects'].map((name) => `nothing catches an error, in or after "${name}"`);
    assert.deepEqual(pluck(throwing?.failures, 'name'), expected);
    assert.match(throwing?.failures[0]?.error ?? '', /^uncaughtException: Error: thrown later\n +at .*THROWS\.mjs/);
    assert.match(throwing?.failures[1]?.error ?? '', /^unhandledRejection: Error: rejected\n +at .*THROWS\.mjs/);
    assert.deepEqual(pluck(others, 'passed', 'failures'), [
      [1, []],
      [1, []],
    ]);
  });

  it('tells of each file how many tests passed, which failed and why, and its output', async () => {
    const { results, problems } = await run(['PASSES'], ['FAILS']);
    assert.deepEqual(problems, []);
    const [passing, failing] = results.toSorted((a, b) => a.failures.length - b.failures.length);
    assert.deepEqual([passing?.passed, passing?.skipped, passing?.failures], [1, 0, []]);
    assert.deepEqual([failing?.passed, failing?.skipped], [1, 1]);
    assert.deepEqual(pluck(failing?.failures, 'name'), ['outer > inner > fails']);
    assert.match(failing?.failures[0]?.error ?? '', /^Error: on purpose\n +at .*FAILS\.mjs/);
    assert.match(failing?.output ?? '', /^printed$/m);
    assert.ok((failing?.ms ?? 0) > 0 && (failing?.cpuMs ?? 0) > 0);
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
