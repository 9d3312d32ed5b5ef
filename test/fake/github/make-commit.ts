import { treeOf, writeCommit } from '../git-files/commit-files.ts';
import { orGit } from '../git-files/object-files.ts';
import { changeTree } from '../git-files/tree-files.ts';
import { describePerson, runGit } from '../hosted/git.ts';
import type { Repository, User, World } from './model.ts';
import { personOf } from './people.ts';
import { moveRefs, writeRefs, ZEROS } from './refs.ts';

/** Content by path. Null removes the file. */
export type Files = Readonly<Record<string, string | null>>;

export interface MakeCommit {
  /** A branch, or a full ref name. */
  readonly branch: string;
  readonly files: Files;
  readonly message?: string;
  /** Default: the head of the branch. */
  readonly parent?: string | undefined;
}

/** Commits and pushes without a work tree. */
export async function makeCommit(
  world: World,
  repository: Repository,
  author: User,
  { branch, files, message = 'A change', parent }: MakeCommit,
): Promise<string> {
  const ref = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`;
  const from = parent ?? repository.refs.get(ref);
  const draft = { from, files, message, person: describePerson(personOf(author, world.now())) };
  const sha = await orGit(
    () => commitByFiles(repository, draft),
    () => commitByGit(repository, draft, `refs/scratch/${world.nextId()}`),
  );
  const isForward = from === repository.refs.get(ref);
  await moveRefs(world, repository, author, [{ ref, after: sha, isForward }]);
  return sha;
}

interface Draft {
  readonly from: string | undefined;
  readonly files: Files;
  readonly message: string;
  readonly person: string;
}

function commitByFiles({ gitDir }: Repository, { from, files, message, person }: Draft): string {
  return writeCommit(gitDir, {
    tree: changeTree(gitDir, treeOf(gitDir, from), files) ?? treeOf(gitDir, undefined),
    parents: from === undefined ? [] : [from],
    author: person,
    committer: person,
    message: Buffer.from(message),
  });
}

async function commitByGit(repository: Repository, draft: Draft, scratch: string): Promise<string> {
  const { from, files, message, person } = draft;
  const input = [
    `commit ${scratch}`,
    'mark :1',
    `author ${person}`,
    `committer ${person}`,
    data(message),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...Object.entries(files).map(([path, text]) =>
      text === null ? `D ${path}` : `M 100644 inline ${path}\n${data(text)}`,
    ),
    '',
    'get-mark :1',
    'done',
    '',
  ].join('\n');
  const args = ['fast-import', '--quiet', '--done', '--date-format=raw'];
  const sha = (await runGit(repository.gitDir, args, { input })).stdout.toString().trim();
  await writeRefs(repository, [{ ref: scratch, before: sha, after: ZEROS }]);
  return sha;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`;
}
