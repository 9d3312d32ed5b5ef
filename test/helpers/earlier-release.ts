import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './doc-pages.ts';

export interface Release {
  readonly commit: string;
  /** Why it cannot be had here, for `skip`. */
  readonly isMissing: string | false;
}

/** An earlier release in the history of git, by the subject of its commit. A shallow clone lacks it. */
export function findRelease(version: string): Release {
  try {
    const args = ['log', '-1', '--format=%H', '--fixed-strings', `--grep=release: ${version}`];
    const commit = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
    if (commit !== '') return { commit, isMissing: false };
  } catch {
    // No git, or no repository.
  }
  return { commit: '', isMissing: `the history of git does not reach back to ${version}` };
}

/** Its sources with the packages of this version, and kysely, which 0.2.0 needs. Returns the arguments with which Node runs its command. */
export function unpackRelease({ commit }: Release, folder: string): readonly string[] {
  const sources = execFileSync('git', ['archive', commit, 'bin', 'src', 'examples', 'scripts', 'package.json'], {
    cwd: ROOT,
    maxBuffer: 256 * 1024 * 1024,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: sources });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return [join(folder, 'bin', 'sluice.mjs')];
}
