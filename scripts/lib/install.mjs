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

/** The development packages that bundle the dashboard and the packages of a release. Their own ones come with them. */
const BUNDLING = ['@preact/signals', 'esbuild', 'preact'];

/**
 * Returns once everything is installed; otherwise ends the process with a sentence that says why.
 *
 * @param {{ dev: boolean, bundling?: boolean }} wanted whether the packages for tests and checks are needed too, or of
 *   these at least those that bundle
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
  const { dev, bundling = false } = wanted;
  // `npm ci` empties node_modules first, which a running server would notice. Where only packages for development are
  // missing, `npm install` adds them beside the others.
  const args = what === 'dev' ? ['install', '--no-save'] : ['ci'];
  say(
    what === 'dev'
      ? 'Installing the packages for tests and checks (npm install); this happens once.'
      : 'Installing the packages Sluice needs (npm ci); this happens once and can take half a minute.',
  );
  const startedAt = performance.now();
  if (what !== 'bundling')
    await runNpm([...args, dev ? '--include=dev' : '--omit=dev', '--include=optional', ...quiet]);
  if (bundling && !dev) await addBundling();
  checkNode24();
  writeFileSync(stampPath, `${JSON.stringify({ key: installKey(), dev, bundling: bundling || dev })}\n`);
  say(`Installed in ${((performance.now() - startedAt) / 1000).toFixed(0)} s.`);
}

/** Adds some of the development packages, as the lock file has them. Neither it nor package.json is written. */
async function addBundling() {
  const { devDependencies } = readJson(join(projectRoot, 'package.json'));
  const named = BUNDLING.map((name) => `${name}@${devDependencies[name]}`);
  await runNpm(['install', '--no-save', '--save-prod', '--omit=dev', '--include=optional', ...quiet, ...named]);
}

/** @returns {'nothing' | 'bundling' | 'dev' | 'all'} */
function missing({ dev, bundling = false }) {
  if (findNode24() === undefined) return 'all';
  const stamp = readJson(stampPath);
  const isOurs = stamp?.key === installKey();
  if (isOurs && (stamp.dev || (!dev && (stamp.bundling || !bundling)))) return 'nothing';
  if (isInstalledByHand({ dev, bundling })) return 'nothing';
  if (!isOurs && !isInstalledByHand({ dev: false })) return 'all';
  return dev ? 'dev' : 'bundling';
}

/** npm records what it installed. After `npm install` the record agrees with the lock file. */
function isInstalledByHand({ dev, bundling = false }) {
  const installed = readJson(join(projectRoot, 'node_modules', '.package-lock.json'))?.packages;
  const locked = readJson(join(projectRoot, 'package-lock.json'))?.packages ?? {};
  if (installed === undefined) return false;
  return Object.entries(locked).every(([path, entry]) => {
    const isBundling = bundling && BUNDLING.some((name) => path === `node_modules/${name}`);
    const needed = path !== '' && !entry.optional && !entry.devOptional && (dev || isBundling || !entry.dev);
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
