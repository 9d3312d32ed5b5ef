import type { Sha } from '../engine/pull-request.ts';
import { formatCommit } from './commit.ts';
import { runGit } from './exec.ts';
import type { CommitDraft } from './git.ts';
import type { Mirror } from './mirror.ts';
import { writingEnvironment } from './mirror.ts';

/** Writes a commit and answers its name. Writing it again changes nothing. */
export async function hashCommit(mirror: Mirror, objectsDir: string, draft: CommitDraft): Promise<Sha> {
  const { stdout } = await runGit(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    purpose: 'write a commit',
    gitDir: mirror.gitDir,
    extra: writingEnvironment(mirror, objectsDir),
    input: formatCommit(draft),
  });
  return stdout.toString('latin1').trim() as Sha;
}
