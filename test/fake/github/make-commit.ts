import { runGit } from './git.ts';
import type { Repository, User, World } from './model.ts';
import { personOf } from './people.ts';
import { moveRefs } from './refs.ts';

/** Content by path. Null removes the file. */
export type Files = Readonly<Record<string, string | null>>;

export interface MakeCommit {
  /** A branch, or a full ref name. */
  readonly branch: string;
  readonly files: Files;
  readonly message?: string;
  /** Default: the head of the branch. */
  readonly parent?: string | undefined;
  /** A second parent makes it a merge. */
  readonly merges?: string;
}

/** Commits and pushes without a work tree. */
export async function makeCommit(
  world: World,
  repository: Repository,
  author: User,
  { branch, files, message = 'A change', parent, merges }: MakeCommit,
): Promise<string> {
  const ref = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`;
  const scratch = `refs/scratch/${world.nextId()}`;
  const { name, email, at } = personOf(author, world.now());
  const person = `${name} <${email}> ${Math.floor(at / 1000)} +0000`;
  const from = parent ?? repository.refs.get(ref);
  const input = [
    `commit ${scratch}`,
    'mark :1',
    `author ${person}`,
    `committer ${person}`,
    data(message),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(merges === undefined ? [] : [`merge ${merges}`]),
    ...Object.entries(files).map(([path, text]) =>
      text === null ? `D ${path}` : `M 100644 inline ${path}\n${data(text)}`,
    ),
    '',
    'get-mark :1',
    'done',
    '',
  ].join('\n');
  const { stdout } = await runGit(repository.gitDir, ['fast-import', '--quiet', '--done', '--date-format=raw'], {
    input,
  });
  const sha = stdout.toString().trim();
  repository.refs.set(scratch, sha);
  const isForward = from === repository.refs.get(ref);
  await moveRefs(world, repository, author, [
    { ref, after: sha, isForward },
    { ref: scratch, after: undefined },
  ]);
  return sha;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
