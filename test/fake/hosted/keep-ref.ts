import { lendCommit } from '../git-files/commit-files.ts';
import { orGit } from '../git-files/object-files.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import { runGit } from './git.ts';

interface Kept {
  readonly gitDir: string;
  /** The refs as of the last push. */
  readonly refs: Map<string, string>;
}

interface KeptRef {
  readonly ref: string;
  readonly after: string;
}

/** A ref of the forge's own, which keeps the head of a fork after its branch or the fork was deleted. */
export async function keepRef(here: Kept, from: Kept | undefined, { ref, after }: KeptRef): Promise<void> {
  if (from !== undefined && from !== here)
    await orGit<unknown>(
      () => lendCommit(from.gitDir, here.gitDir, after),
      () => runGit(here.gitDir, ['fetch', '--quiet', '--no-tags', from.gitDir, after]),
    );
  await orGit<unknown>(
    () => writeRefFiles(here.gitDir, [{ ref, after }]),
    () => runGit(here.gitDir, ['update-ref', ref, after]),
  );
  here.refs.set(ref, after);
}
