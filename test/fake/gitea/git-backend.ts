import type { Answer } from '../hosted/answer.ts';
import { type GitAsk, NO_HOOKS, readCommands, runBackend } from '../hosted/git-http.ts';
import {
  findRenamed,
  findRepository,
  fullNameOf,
  hasMode,
  inTurn,
  protectionOf,
  type Repository,
  type User,
  type World,
} from './model.ts';
import { mayPush } from './protection.ts';
import { catchUp, ZEROS } from './pushes.ts';

interface Served extends Omit<GitAsk, 'who'> {
  readonly query: URLSearchParams;
  readonly caller: User | undefined;
}

export async function serveGit(world: World, ask: Served): Promise<Answer> {
  const { fullName, caller, tail } = ask;
  const repository = findRepository(world, fullName);
  if (repository === undefined) return redirect(world, ask);
  const isPush = ask.service === 'git-receive-pack';
  if (caller === undefined && (isPush || repository.isPrivate)) return refuseGit(401);
  if (!hasMode(repository, caller, 'read')) return refuseGit(404);
  if (isPush && repository.isArchived)
    return plain(
      403,
      'This repo is archived. You can view files and clone it, but cannot push or open issues/pull-requests.',
    );
  const gitAsk: GitAsk = { ...ask, who: caller?.login };
  if (!isPush || tail === 'info/refs') return runBackend(gitAsk, repository.gitDir);
  return inTurn(repository, async () => {
    const answer = await runBackend(gitAsk, repository.gitDir, hooksOf(world, repository, gitAsk, caller as User));
    await catchUp(world, repository, caller as User);
    return answer;
  });
}

export async function refuseGit(status: number): Promise<Answer> {
  if (status !== 401) return plain(status, 'Repository not found');
  return { ...plain(401, 'Failed to authenticate user'), headers: { 'www-authenticate': 'Basic realm="Gitea"' } };
}

function redirect(world: World, { fullName, tail, query }: Served): Answer {
  const renamed = findRenamed(world, fullName);
  if (renamed === undefined) return plain(404, 'Repository not found');
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return { status: 301, headers: { location: `${world.url}/${fullNameOf(renamed)}.git/${tail}${search}` } };
}

function plain(status: number, text: string): Answer {
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: Buffer.from(`${text}\n`) };
}

/** Gitea refuses a whole push when one of its refs may not move. Force pushes are found where the pushed commits are. */
const PRE_RECEIVE = `#!/bin/sh
refuse() { printf '\\nerror:\\nerror: %s\\nerror:\\n' "$1" >&2; exit 1; }
[ -z "$FAKE_REFUSAL" ] || refuse "$FAKE_REFUSAL"
while read -r old new ref; do
  case "$FAKE_STRAIGHT" in *" $ref "*) ;; *) continue ;; esac
  case "$old" in *[!0]*) ;; *) continue ;; esac
  git merge-base --is-ancestor "$old" "$new" || refuse "branch \${ref#refs/heads/} is protected from force push"
done
`;

/** Refuses refs of pull requests, one by one. */
const UPDATE = `#!/bin/sh
case "$1" in refs/pull/*) exit 1 ;; esac
`;

export const HOOKS = { 'pre-receive': PRE_RECEIVE, update: UPDATE };

function hooksOf(world: World, repository: Repository, ask: GitAsk, user: User): Readonly<Record<string, string>> {
  const changes = readCommands(ask);
  const refusal = changes
    .map(({ ref, after }) => blockOf(repository, user, ref, after))
    .find((why) => why !== undefined);
  const straight = changes.filter(({ ref }) => branchRule(repository, ref) !== undefined).map(({ ref }) => ref);
  const isOpen = !changes.some(({ ref }) => ref.startsWith('refs/pull/'));
  if (refusal === undefined && straight.length === 0 && isOpen) return NO_HOOKS;
  const hooks = { ...NO_HOOKS, GIT_CONFIG_VALUE_0: `${world.folder}/hooks` };
  return { ...hooks, FAKE_REFUSAL: refusal ?? '', FAKE_STRAIGHT: ` ${straight.join(' ')} ` };
}

function branchRule(repository: Repository, ref: string) {
  return ref.startsWith('refs/heads/') ? protectionOf(repository, ref.slice('refs/heads/'.length))?.rule : undefined;
}

function blockOf(repository: Repository, user: User, ref: string, after: string): string | undefined {
  if (!hasMode(repository, user, 'write')) return 'User permission denied for writing.';
  if (!ref.startsWith('refs/heads/')) return undefined;
  const branch = ref.slice('refs/heads/'.length);
  if (after === ZEROS && branch === repository.defaultBranch)
    return `branch ${branch} is the default branch and cannot be deleted`;
  if (branchRule(repository, ref) === undefined) return undefined;
  if (after === ZEROS) return `branch ${branch} is protected from deletion`;
  return mayPush(repository, branch, user) ? undefined : `Not allowed to push to protected branch ${branch}`;
}
