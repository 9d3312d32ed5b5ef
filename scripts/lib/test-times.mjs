// How long each test file took last time on this machine: the longest go first, so that no core is left idle at the end.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { isFast, isLong } from './test-kinds.mjs';

export class TestTimes {
  #path;
  #times;

  /** @param {string} path */
  constructor(path) {
    this.#path = path;
    this.#times = read(path);
  }

  /** A file that never ran may be a long one. @param {readonly string[]} files */
  longestFirst(files) {
    const timeOf = (file) => this.#times[file] ?? Number.POSITIVE_INFINITY;
    const byName = [...files].sort();
    return byName.sort((a, b) => Math.sign(timeOf(b) - timeOf(a)) || weightOf(b) - weightOf(a));
  }

  /** @param {readonly { file: string, ms: number }[]} results */
  save(results) {
    for (const { file, ms } of results) this.#times[file] = Math.round(ms);
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, JSON.stringify(this.#times, null, 1));
  }
}

/** On a fresh clone no time is known: files that may take minutes go first, then tests that start processes. */
function weightOf(file) {
  if (isLong(file)) return 2;
  return isFast(file) ? 0 : 1;
}

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}
