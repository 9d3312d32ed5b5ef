// `npm test`: installs what is missing, checks types, style, imports and dead code, then runs every test.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { usedCpuMs } from './lib/cpu-time.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { findNode24, projectRoot } from './lib/node24.mjs';
import { parseArguments } from './lib/parse-arguments.mjs';
import { exitCodeOf } from './lib/run-child.mjs';
import { runTestFiles } from './lib/test-files.mjs';
import { isApart, isFast, isPure, limitOf } from './lib/test-kinds.mjs';
import { describeFile, describeRun } from './lib/test-report.mjs';
import { TestTimes } from './lib/test-times.mjs';

const usage = `usage: npm test [-- options]

Checks types, style, imports and dead code, then runs every test file. The end lists every failed test again.

  --fast                   checks types and style only, and runs the tests that start no git and no server
  --only <part of a path>  runs only these test files, and no checks
  --help                   prints this text
`;

/** Git takes a tenth less CPU time on a disk in memory. */
const MEMORY = '/dev/shm';
const ENOUGH = 8 * 2 ** 30;
/** Each derives the shared types anew: four of them take twice the CPU time of one. */
const CHECKERS = Math.max(1, Math.floor(availableParallelism() / 2));

const { only, fast } = parseArguments({ only: { type: 'string' }, fast: { type: 'boolean' } }, usage);
await ensureInstalled({ dev: true });
process.chdir(projectRoot);
const node = findNode24();

if (only === undefined) await runChecks();
await runTests();

async function runChecks() {
  const bin = (path) => join('node_modules', path);
  const checks = [
    { name: 'types', args: [bin('typescript/bin/tsc'), '--noEmit', '--checkers', String(CHECKERS)] },
    { name: 'lint and format', args: [bin('@biomejs/biome/bin/biome'), 'check', '--error-on-warnings'] },
    ...(fast
      ? []
      : [
          { name: 'imports', args: ['scripts/check-imports.mjs'] },
          { name: 'dead code', args: [bin('knip/bin/knip.js'), '--no-progress'] },
        ]),
  ];
  // They are independent, so all run at once. They are reported in order.
  const running = checks.map((check) => ({ ...check, result: runBuffered(check.args) }));
  const failed = [];
  for (const { name, result } of running) {
    const { code, output, seconds } = await result;
    heading(`${name}: ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)`);
    if (code !== 0) failed.push(name);
    if (code !== 0) process.stdout.write(output);
  }
  if (failed.length === 0) return;
  heading(`stopped before the tests: ${failed.join(', ')} failed`);
  process.exit(1);
}

function runBuffered(args) {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      resolve({ code: exitCodeOf({ code, signal }), output: Buffer.concat(chunks).toString(), seconds });
    });
  });
}

async function runTests() {
  const files = [...findTests('src'), ...findTests('test')].filter(
    (file) => (only === undefined || file.includes(only)) && (!fast || isFast(file)),
  );
  if (files.length === 0) {
    heading(only === undefined ? 'no test files found' : `no test file has "${only}" in its path`);
    process.exit(1);
  }
  const startedAt = performance.now();
  const cpuMs = usedCpuMs();
  const built = join(projectRoot, '.cache', 'build');
  if (!files.every(isPure)) {
    // Its package is installed by now.
    const { buildSluice } = await import('./lib/build.mjs');
    await buildSluice(built);
    const { ensureWeb } = await import('./lib/build-web.mjs');
    await ensureWeb();
  }
  const scratch = makeScratch();
  const times = new TestTimes(join('.cache', 'test-times.json'));
  heading(`tests: ${files.length} files (seconds, seconds of CPU time)`);
  const { results, problems } = await runTestFiles({
    node,
    files: times.longestFirst(files),
    isApart,
    limitOf,
    env: {
      NODE_COMPILE_CACHE: join(projectRoot, '.cache', 'compile'),
      TMPDIR: scratch,
      SLUICE_TEST_CLUSTER: join(scratch, 'cluster'),
      SLUICE_TEST_BIN: join(built, 'bin', 'sluice.mjs'),
      // Starting a process copies the page tables of its parent: with huge pages they are small.
      GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    },
    onFile: (result) => process.stdout.write(describeFile(result)),
  });
  times.save(results);
  const seconds = (performance.now() - startedAt) / 1000;
  process.stdout.write(describeRun({ results, problems, seconds, cpuSeconds: (usedCpuMs() - cpuMs) / 1000 }));
  const isGood = problems.length === 0 && results.every(({ failures }) => failures.length === 0);
  process.exit(isGood ? 0 : 1);
}

/** One folder for everything that tests put into temporary folders, so that nothing of it stays. */
function makeScratch() {
  const folder = makeFolder(MEMORY) ?? makeFolder(tmpdir());
  // PostgreSQL, and checks with a user of their own, get through.
  chmodSync(folder, 0o1777);
  return folder;
}

function makeFolder(place) {
  if (place === MEMORY && !isRoomy(place)) return undefined;
  const folder = mkdtempSync(join(place, 'sluice-test-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return place !== MEMORY || runsPrograms(folder) ? folder : undefined;
}

/** A TMPDIR that the caller chose is used. */
function isRoomy(place) {
  try {
    const { bavail, bsize } = statfsSync(place);
    return process.env.TMPDIR === undefined && bavail * bsize > ENOUGH;
  } catch {
    return false;
  }
}

function runsPrograms(folder) {
  const file = join(folder, 'program');
  writeFileSync(file, '#!/bin/sh\n', { mode: 0o755 });
  return spawnSync(file).status === 0;
}

/** `fs.glob` does not exist in Node 20. */
function findTests(folder) {
  let names;
  try {
    names = readdirSync(join(projectRoot, folder), { recursive: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return names
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => relative(projectRoot, join(projectRoot, folder, name)).replaceAll(sep, '/'))
    .sort();
}

function heading(text) {
  process.stdout.write(`== ${text}\n`);
}
