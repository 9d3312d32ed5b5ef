import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { LineCommit, LineRange } from './git.ts';
import type { Mirror } from './mirror.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/**
 * One field per line: names and subjects contain no line breaks. Both can be arbitrarily long, so git truncates them.
 */
const FIELDS = ['%H', '%T', '%P', '%<(60,trunc)%an', '%<(100,trunc)%s'];

/** First-parent commits of the tip that `since` lacks, newest first, at most `limit`. */
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
