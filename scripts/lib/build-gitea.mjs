// Builds a real Gitea once, into a folder that all clones of this machine share.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { exitCodeOf, runChild } from './run-child.mjs';

const VERSION = '1.26.0';
const MODULE = `code.gitea.io/gitea@v${VERSION}`;
/** The server reads these folders at run time. */
const STATIC = ['templates', 'options', 'public'];

/** @returns {Promise<string>} the path of the program; its static files are in the folder `root` beside it */
export async function ensureGitea() {
  const cache = process.env.SLUICE_CACHE ?? join(homedir(), '.cache', 'sluice');
  const folder = join(cache, `gitea-${VERSION}`);
  const binary = join(folder, 'gitea');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  await withLock({
    path: join(folder, 'build.lock'),
    onWait: () => say('Another process is building Gitea; waiting for it.'),
    task: () => (existsSync(binary) ? Promise.resolve() : build(folder, binary)),
  });
  return binary;
}

export class GiteaError extends Error {}

async function build(folder, binary) {
  for (const [tool, args] of [
    ['go', ['version']],
    ['gcc', ['--version']],
  ]) {
    if (!runs(tool, args))
      throw new GiteaError(
        `A real Gitea is built from source, which needs Go 1.26.2 or newer and gcc: ${tool} is missing.`,
      );
  }
  say(`Downloading the source of Gitea ${VERSION}.`);
  const source = download();
  say('Building Gitea. This happens once, and takes about nine minutes of CPU time.');
  const startedAt = performance.now();
  const ticking = setInterval(() => say(`Still building, ${minutesSince(startedAt)} min.`), 60_000);
  const flags = ['-tags', 'sqlite sqlite_unlock_notify', '-ldflags', `-X main.Version=${VERSION}`];
  const env = { ...process.env, CGO_ENABLED: '1' };
  const result = await runChild('go', ['build', ...flags, '-o', `${binary}.new`, '.'], { cwd: source, env });
  clearInterval(ticking);
  if (exitCodeOf(result) !== 0) throw new GiteaError('Gitea could not be built; the reason is above.');
  for (const name of STATIC) cpSync(join(source, name), join(folder, 'root', name), { recursive: true });
  // Last: its existence says that everything is there.
  renameSync(`${binary}.new`, binary);
  say(`Built in ${minutesSince(startedAt)} min.`);
}

/** @returns {string} the folder of the source */
function download() {
  try {
    return JSON.parse(execFileSync('go', ['mod', 'download', '-json', MODULE], { encoding: 'utf8' })).Dir;
  } catch {
    throw new GiteaError(
      'The source of Gitea could not be downloaded; the reason is above. Check the network connection.',
    );
  }
}

function runs(tool, args) {
  try {
    execFileSync(tool, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function minutesSince(startedAt) {
  return ((performance.now() - startedAt) / 60_000).toFixed(1);
}

function say(message) {
  process.stderr.write(`sluice: ${message}\n`);
}
