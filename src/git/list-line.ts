import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { LineCommit, LineRange } from './git.ts';
import type { Mirror } from './mirror.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** One field a line: neither a name nor a subject has line breaks. Both are cut, for nobody limits their length. */
const FIELDS = ['%H', '%T', '%P', '%<(60,trunc)%an', '%<(100,trunc)%s'];

/** Commits of the tip's own line (first parents) that `since` does not have, newest first, at most `limit`. */
export async function listLine(mirror: Mirror, { tip, since, limit }: LineRange): Promise<readonly LineCommit[]> {
  const format = ['--no-commit-header', `--format=${FIELDS.join('%n')}`, '--encoding=UTF-8'];
  const revisions = ['--end-of-options', tip, `^${since}`, '--'];
  const { stdout } = await runGit(['rev-list', '--first-parent', `--max-count=${limit}`, ...format, ...revisions], {
    purpose: 'read the history of the repository',
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    maxBytes: MAX_BYTES,
  });
  const lines = stdout.toString().split('\n');
  const count = Math.floor(lines.length / FIELDS.length);
  return Array.from({ length: count }, (_, index) => parse(lines.slice(index * FIELDS.length)));
}

function parse([sha, tree, parents = '', author = '', subject = '']: readonly string[]): LineCommit {
  const [parent] = parents.split(' ');
  return {
    sha: sha as Sha,
    tree: tree as Sha,
    parent: parent === '' ? undefined : (parent as Sha),
    author: author.trim(),
    subject: subject.trim(),
  };
}
