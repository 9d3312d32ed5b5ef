import { assert } from '../lib/assert.ts';
import { runGit } from './exec.ts';
import type { TreePair } from './git.ts';
import type { Mirror } from './mirror.ts';

const MAX_BYTES = 128 * 1024 * 1024;

/** The changed paths, one character per byte, with mode and object on the `to` side. */
export async function diffTrees(mirror: Mirror, { from, to }: TreePair): Promise<ReadonlyMap<string, string>> {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--no-renames',
    '--ignore-submodules=none',
    '--end-of-options',
    from,
    to,
    '--',
  ];
  const { stdout } = await runGit(args, {
    purpose: 'compare two trees',
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    maxBytes: MAX_BYTES,
  });
  return parseDiff(stdout.toString('latin1'));
}

/** Parses records of `:mode mode object object letter NUL path NUL`. */
export function parseDiff(output: string): ReadonlyMap<string, string> {
  const fields = output.split('\0');
  const changes = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode, newMode, , newObject] = fields[index]?.split(' ') ?? [];
    assert(oldMode?.startsWith(':') === true, 'git diff-tree answered with a line nobody knows');
    changes.set(fields[index + 1] ?? '', `${newMode} ${newObject}`);
  }
  return changes;
}
