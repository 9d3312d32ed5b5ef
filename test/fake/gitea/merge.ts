import { orGit } from '../git-files/object-files.ts';
import { writeRefFiles } from '../git-files/ref-files.ts';
import { commitTree, findCommit, isAncestor, mergeTree, runGit } from '../hosted/git.ts';
import { rebaseCommits } from '../hosted/rebase.ts';
import { type CallIn, notFound, Refused, textOf } from './call.ts';
import { branchHead, hasMode, isDraft, matchesGlob, type PullRequest, protectionOf, type Status } from './model.ts';
import { mayMerge } from './protection.ts';
import { catchUp, isMergeable, markMerged } from './pushes.ts';

const STYLES: Readonly<Record<string, string>> = {
  merge: 'allow_merge_commits',
  rebase: 'allow_rebase',
  'rebase-merge': 'allow_rebase_explicit',
  squash: 'allow_squash_merge',
  'fast-forward-only': 'allow_fast_forward_only_merge',
  'manually-merged': 'allow_manual_merge',
};

/** Merges as Gitea does, or refuses with its words. Nothing but the permission is checked for `manually-merged`. */
export async function mergePullRequest(call: CallIn, pr: PullRequest): Promise<void> {
  const { world, repository, user, body } = call;
  const refuse = (status: number, message: string) => new Refused(status, message, world);
  const style = textOf(body, 'Do') || 'merge';
  if (pr.merged !== undefined) throw refuse(405, 'The PR is already merged');
  if (pr.isClosed) throw notFound(call);
  if (!mayMerge(repository, pr.baseBranch, user)) throw refuse(405, 'User not allowed to merge PR');
  const isAllowed = repository.settings[STYLES[style] ?? ''] === true;
  const notAllowed = () => refuse(405, `${style} is not allowed an allowed merge style for this repository`);
  if (style === 'manually-merged') {
    if (!isAllowed) throw notAllowed();
    return settleManually(call, pr);
  }
  if (isDraft(pr)) throw refuse(405, 'Work in progress PRs cannot be merged');
  if (!(await isMergeable(pr))) throw refuse(405, 'Please try again later');
  const why = blockOf(pr);
  const isForced = body['force_merge'] === true && hasMode(repository, user, 'admin');
  const isBound = protectionOf(repository, pr.baseBranch)?.rule['block_admin_merge_override'] === true;
  if (why !== undefined && (!isForced || isBound)) throw refuse(405, why);
  if (!isAllowed) throw notAllowed();
  const head = textOf(body, 'head_commit_id');
  if (head !== '' && head !== pr.headSha) throw refuse(409, 'head out of date');
  const after = await makeCommit(call, pr, style);
  if (after === undefined) throw refuse(409, 'merge push out of date');
  await orGit<unknown>(
    () => writeRefFiles(repository.gitDir, [{ ref: `refs/heads/${pr.baseBranch}`, after }]),
    () => runGit(repository.gitDir, ['update-ref', `refs/heads/${pr.baseBranch}`, after]),
  );
  // It is not looked for among the open ones any more.
  pr.isClosed = true;
  await catchUp(world, repository, user);
  await markMerged(world, pr, user, after);
}

async function settleManually({ world, repository, user, body }: CallIn, pr: PullRequest): Promise<void> {
  const sha = textOf(body, 'MergeCommitID');
  const base = branchHead(repository, pr.baseBranch);
  const commit = sha.length === 40 ? await findCommit(repository.gitDir, sha) : undefined;
  const isThere = commit !== undefined && base !== undefined && (await isAncestor(repository.gitDir, sha, base));
  // Gitea sends its error as an object without fields.
  if (!isThere) throw Object.assign(new Refused(409, 'Wrong commit ID', world), { answer: { status: 409, body: {} } });
  await markMerged(world, pr, user, sha);
}

/** The first thing that the protection of the branch still wants. */
function blockOf(pr: PullRequest): string | undefined {
  const { repository, reviews } = pr;
  const rule = protectionOf(repository, pr.baseBranch)?.rule;
  if (rule === undefined) return undefined;
  const required = rule['status_check_contexts'] as readonly string[];
  if (rule['enable_status_check'] === true && !passes(newestStatuses(repository.statuses, pr.headSha), required))
    return 'Not all required status checks successful';
  const counted = reviews.filter(({ isOfficial, isDismissed }) => isOfficial && !isDismissed);
  const approvals = counted.filter(
    ({ state, isStale }) => state === 'APPROVED' && !(isStale && rule['ignore_stale_approvals'] === true),
  );
  if (approvals.length < Number(rule['required_approvals'])) return 'Does not have enough approvals';
  const isRejected = counted.some(({ state }) => state === 'REQUEST_CHANGES');
  return isRejected && rule['block_on_rejected_reviews'] === true ? 'There are requested changes' : undefined;
}

/** The newest of each context, in the order of their ids. */
export function newestStatuses(statuses: readonly Status[], sha: string): readonly Status[] {
  const newest = new Map(statuses.filter((status) => status.sha === sha).map((status) => [status.context, status]));
  return [...newest.values()].toSorted((one, other) => one.id - other.id);
}

function passes(statuses: readonly Status[], required: readonly string[]): boolean {
  const isGood = ({ state }: Status) => ['success', 'skipped'].includes(state);
  if (required.length === 0) return statuses.length > 0 && statuses.every(isGood);
  return required.every((pattern) => {
    // In patterns of contexts a star takes slashes too.
    const found = statuses.filter(({ context }) => matchesGlob(pattern.replaceAll('*', '**'), context));
    return found.length > 0 && found.every(isGood);
  });
}

async function makeCommit(
  { world, repository, user, body }: CallIn,
  pr: PullRequest,
  style: string,
): Promise<string | undefined> {
  const { gitDir } = repository;
  const base = branchHead(repository, pr.baseBranch) ?? '';
  const person = { name: user.login, email: user.email, at: world.now() };
  const isAhead = await isAncestor(gitDir, base, pr.headSha);
  if (style === 'fast-forward-only') return isAhead ? pr.headSha : undefined;
  const rebased = isAhead ? pr.headSha : await rebaseCommits(gitDir, { base, head: pr.headSha, committer: person });
  if (style === 'rebase') return rebased;
  const head = style === 'rebase-merge' ? rebased : pr.headSha;
  const tree = head === undefined ? undefined : await mergeTree(gitDir, base, head);
  if (tree === undefined || head === undefined) return undefined;
  const title = textOf(body, 'MergeTitleField') || `Merge pull request '${pr.title}' (#${pr.number})`;
  const message = [title, textOf(body, 'MergeMessageField')].filter((part) => part !== '').join('\n\n');
  const author = style === 'squash' ? { ...person, name: pr.author.login, email: pr.author.email } : person;
  const parents = style === 'squash' ? [base] : [base, head];
  return commitTree(gitDir, { tree, parents, message, author, committer: person });
}
