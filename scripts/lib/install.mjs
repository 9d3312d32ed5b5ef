// Makes sure the packages of package-lock.json are installed, at most once at a time per clone. A stamp inside
// node_modules says what is there; it goes when node_modules goes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { withLock } from './lock.mjs';
import { findNode24, isNewEnough, projectRoot } from './node24.mjs';
import { exitCodeOf, runChild } from './run-child.mjs';

const stampPath = join(projectRoot, 'node_modules', '.sluice-installed.json');
// npm retries a package for minutes by default. Without a network this must fail within seconds.
const quiet = [
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
];

/**
 * Returns once everything is installed; otherwise ends the process with a sentence that says why.
 *
 * @param {{ dev: boolean }} wanted whether the packages for tests and checks are needed too
 */
export async function ensureInstalled(wanted) {
  if (missing(wanted) === 'nothing') return;
  try {
    await withLock({
      path: join(projectRoot, '.cache', 'install.lock'),
      onWait: () => say('Another process is installing the packages; waiting for it.'),
      task: () => install(wanted),
    });
  } catch (error) {
    say(
      error instanceof InstallError ? error.message : `The packages could not be installed: ${error?.stack ?? error}`,
    );
    process.exit(error instanceof InstallError ? error.exitCode : 1);
  }
}

class InstallError extends Error {
  exitCode = 1;
}

async function install(wanted) {
  const what = missing(wanted);
  if (what === 'nothing') return;
  // `npm ci` empties node_modules first, which a running server would notice. Where only the packages for tests are
  // missing, `npm install` adds them beside the others.
  const additive = what === 'dev';
  const args = additive ? ['install', '--no-save'] : ['ci'];
  say(
    additive
      ? 'Installing the packages for tests and checks (npm install); this happens once.'
      : 'Installing the packages Sluice needs (npm ci); this happens once and can take half a minute.',
  );
  const startedAt = performance.now();
  await runNpm([...args, wanted.dev ? '--include=dev' : '--omit=dev', '--include=optional', ...quiet]);
  checkNode24();
  writeFileSync(stampPath, `${JSON.stringify({ key: installKey(), dev: wanted.dev })}\n`);
  say(`Installed in ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);
}

/** @returns {'nothing' | 'dev' | 'all'} */
function missing(wanted) {
  if (findNode24() === undefined) return 'all';
  const stamp = readJson(stampPath);
  if (stamp?.key === installKey() && (stamp.dev || !wanted.dev)) return 'nothing';
  if (isInstalledByHand({ dev: wanted.dev })) return 'nothing';
  return stamp?.key === installKey() ? 'dev' : 'all';
}

/** npm records what it installed. After `npm install` the record agrees with the lock file. */
function isInstalledByHand({ dev }) {
  const installed = readJson(join(projectRoot, 'node_modules', '.package-lock.json'))?.packages;
  const locked = readJson(join(projectRoot, 'package-lock.json'))?.packages ?? {};
  if (installed === undefined) return false;
  return Object.entries(locked).every(([path, entry]) => {
    const needed = path !== '' && !entry.optional && !entry.devOptional && (dev || !entry.dev);
    return !needed || installed[path]?.version === entry.version;
  });
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function installKey() {
  const lock = readFileSync(join(projectRoot, 'package-lock.json'));
  return `${process.platform}-${process.arch}-${createHash('sha256').update(lock).digest('hex')}`;
}

async function runNpm(args) {
  // The npm that runs this script, under the Node that runs it: a `node` found in node_modules/.bin would be deleted
  // beneath npm's feet.
  const { npm_execpath: npmPath, npm_node_execpath: nodePath, ...env } = process.env;
  const [command, first] = npmPath && nodePath ? [nodePath, [npmPath]] : ['npm', []];
  const ownBin = join(projectRoot, 'node_modules', '.bin');
  const path = (env.PATH ?? '').split(delimiter).filter((entry) => entry !== ownBin);
  const result = await runChild(command, [...first, ...args], {
    cwd: projectRoot,
    env: { ...env, PATH: path.join(delimiter) },
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32' && command === 'npm',
  }).catch((error) => {
    throw new InstallError(`npm could not be started: ${error.message}. Install npm, then run this again.`);
  });
  if (result.received !== undefined) {
    const error = new InstallError('Installing was interrupted.');
    error.exitCode = exitCodeOf({ code: null, signal: result.received });
    throw error;
  }
  if (exitCodeOf(result) !== 0) {
    throw new InstallError(
      `The packages could not be installed: npm ended with code ${exitCodeOf(result)}; its reason is above. ` +
        'Check the network connection (or the npm registry settings), then run this again.',
    );
  }
}

function checkNode24() {
  const path = findNode24();
  let version;
  try {
    version = path === undefined ? undefined : execFileSync(path, ['--version'], { encoding: 'utf8' });
  } catch {
    // The package is installed but does not run, for example on a Linux without glibc.
  }
  if (version !== undefined && isNewEnough(version)) return;
  throw new InstallError(
    `Sluice needs Node 24 or newer, this is Node ${process.versions.node}, and npm has no Node 24 that runs on ` +
      `${process.platform}-${process.arch}. Install Node 24 from https://nodejs.org, then run this again.`,
  );
}

function say(message) {
  process.stderr.write(`sluice: ${message}\n`);
}
