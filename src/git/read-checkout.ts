import { runGit } from './exec.ts';

export interface Checkout {
  /** Null before the first commit. */
  readonly sha: string | null;
  /** Parents of that commit, including those that a shallow clone lacks. */
  readonly parents: readonly string[];
  /** Null when HEAD is detached. */
  readonly branch: string | null;
  readonly originUrl: string | null;
}

/** Undefined when the folder is in no work tree. A tree of another owner is read too, since CI mounts such trees. */
export async function readCheckout(folder: string): Promise<Checkout | undefined> {
  const ask = askIn(folder);
  const [isTree, sha, commit, branch, originUrl] = await Promise.all([
    ask('rev-parse', '--git-dir'),
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
    ask('cat-file', 'commit', 'HEAD'),
    ask('symbolic-ref', '--quiet', '--short', 'HEAD'),
    ask('config', '--get', 'remote.origin.url'),
  ]);
  if (isTree === null) return undefined;
  const [head = ''] = (commit ?? '').split('\n\n', 1);
  const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, parent]) => parent as string);
  return { sha, parents, branch, originUrl };
}

export interface Remote {
  readonly name: string;
  readonly url: string;
  /** Undefined if the clone does not know it. */
  readonly defaultBranch: string | undefined;
}

export interface Remotes {
  /** The top folder of the work tree: relative addresses of remotes begin there. */
  readonly root: string;
  readonly remotes: readonly Remote[];
}

/** Undefined when the folder is in no work tree. */
export async function readRemotes(folder: string): Promise<Remotes | undefined> {
  const ask = askIn(folder);
  const [root, urls, heads] = await Promise.all([
    ask('rev-parse', '--show-toplevel'),
    ask('config', '--get-regexp', '^remote\\..*\\.url$'),
    ask('for-each-ref', '--format=%(refname) %(symref)', 'refs/remotes/*/HEAD'),
  ]);
  if (root === null) return undefined;
  const branches = new Map([...(heads ?? '').matchAll(HEAD_OF_REMOTE)].map(([, name, branch]) => [name, branch]));
  const remotes = [...(urls ?? '').matchAll(/^remote\.(.+)\.url (.+)$/gm)].map(([, name = '', url = '']) => ({
    name,
    url,
    defaultBranch: branches.get(name),
  }));
  return { root, remotes };
}

const HEAD_OF_REMOTE = /^refs\/remotes\/(.+)\/HEAD refs\/remotes\/\1\/(.+)$/gm;

function askIn(folder: string): (...args: string[]) => Promise<string | null> {
  return async (...args) => {
    const options = { purpose: 'read the checkout', safeDirectory: '*', expected: [0, 1, 128] };
    const { exitCode, stdout } = await runGit(['-C', folder, ...args], options);
    return exitCode === 0 ? stdout.toString().trim() : null;
  };
}
