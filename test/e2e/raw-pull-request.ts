// Pull requests with bytes that git's porcelain commands would not write.
import { writeObject } from '../fake/git-files/object-files.ts';
import { writeRefFiles } from '../fake/git-files/ref-files.ts';
import type { TestQueue } from './test-queue.ts';

export interface RawCommit {
  /** `Name <email> seconds zone`, or something else. */
  readonly author?: string;
  readonly message?: Buffer | string;
  readonly files?: readonly RawFile[];
  /** Default: the target branch's head. */
  readonly parent?: string;
}

export interface RawFile {
  readonly mode: '100644' | '100755' | '120000' | '160000';
  /** Without a slash, unless the test needs a malformed tree. */
  readonly name: string;
  /** The content; for a submodule, a commit. */
  readonly content: string;
  /** A folder around it. */
  readonly folder?: string;
}

let count = 0;

/** Points a pull request at a commit made of exactly these bytes. */
export async function pushRaw(queue: TestQueue, prNumber: number, raw: RawCommit): Promise<string> {
  const sha = await commitRaw(queue, raw);
  writeRefFiles(queue.git.path, [{ ref: `refs/pull/${prNumber}/head`, after: sha }]);
  return sha;
}

export async function commitRaw({ git }: TestQueue, raw: RawCommit): Promise<string> {
  count += 1;
  const { author = 'Ada <ada@example.test> 1700000000 +0000', message = 'Change\n', files } = raw;
  const parent = raw.parent ?? (await git.git(['rev-parse', 'refs/heads/main']));
  const wanted = files ?? [{ mode: '100644', name: `new-${count}.txt`, content: `${count}\n` }];
  let tree = await git.git(['rev-parse', `${parent}^{tree}`]);
  for (const file of wanted) tree = await addFile(git, tree, file);
  const head = `tree ${tree}\nparent ${parent}\nauthor ${author}\ncommitter ${author}\n\n`;
  return writeObject(git.path, { type: 'commit', body: Buffer.concat([Buffer.from(head), Buffer.from(message)]) });
}

async function addFile(git: TestQueue['git'], tree: string, file: RawFile): Promise<string> {
  const { mode, name, content, folder } = file;
  const sha = mode === '160000' ? content : writeObject(git.path, { type: 'blob', body: Buffer.from(content) });
  const entry = `${mode} ${mode === '160000' ? 'commit' : 'blob'} ${sha}\t${name}\0`;
  const listing = await git.git(['ls-tree', '-z', tree]);
  if (folder === undefined) return git.git(['mktree', '-z', '--missing'], listing + entry);
  const inner = await git.git(['mktree', '-z', '--missing'], entry);
  return git.git(['mktree', '-z'], `${listing}040000 tree ${inner}\t${folder}\0`);
}
