import { type Commit, readCommits } from './git.ts';
import type { PullRequest } from './model.ts';

export interface MergeMessage {
  readonly title: string;
  readonly body: string;
}

/** GitHub's default message. */
export async function defaultMessage(pr: PullRequest, base: string, method: 'merge' | 'squash'): Promise<MergeMessage> {
  if (method === 'merge') return mergeMessage(pr);
  return squashMessage(pr, await readCommits(pr.repository.gitDir, ['--reverse', `${base}..${pr.headSha}`]));
}

function mergeMessage(pr: PullRequest): MergeMessage {
  const { mergeTitle, mergeMessage } = pr.repository.settings;
  const bodies = { PR_BODY: pr.body ?? '', PR_TITLE: pr.title, BLANK: '' };
  const title =
    mergeTitle === 'PR_TITLE'
      ? `${pr.title} (#${pr.number})`
      : `Merge pull request #${pr.number} from ${pr.headOwner.login}/${pr.headRef}`;
  return { title, body: bodies[mergeMessage] };
}

function squashMessage(pr: PullRequest, commits: readonly Commit[]): MergeMessage {
  const { squashTitle, squashMessage } = pr.repository.settings;
  const own = commits.filter(({ parents }) => parents.length < 2);
  const [only] = own.length === 1 ? own : [];
  const subject = squashTitle === 'COMMIT_OR_PR_TITLE' && only !== undefined ? subjectOf(only) : pr.title;
  const bodies = { PR_BODY: pr.body ?? '', COMMIT_MESSAGES: listMessages(own), BLANK: '' };
  return { title: `${subject} (#${pr.number})`, body: withCoAuthors(bodies[squashMessage], pr, own) };
}

function listMessages(commits: readonly Commit[]): string {
  const [first] = commits;
  if (commits.length === 1 && first !== undefined) return bodyOf(first);
  return commits
    .map((commit) => [`* ${subjectOf(commit)}`, bodyOf(commit)].filter((part) => part !== '').join('\n\n'))
    .join('\n\n');
}

/** Names the commit authors other than the pull request's author. */
function withCoAuthors(body: string, pr: PullRequest, commits: readonly Commit[]): string {
  const others = commits
    .filter(({ author }) => author.name !== pr.author.name)
    .map(({ author }) => `Co-authored-by: ${author.name} <${author.email}>`)
    .filter((line) => !body.includes(line));
  const lines = [...new Set(others)].join('\n');
  if (lines === '') return body;
  return body === '' ? lines : `${body}\n\n${lines}`;
}

function subjectOf({ message }: Commit): string {
  return message.split('\n')[0] ?? '';
}

function bodyOf({ message }: Commit): string {
  return message.split('\n').slice(1).join('\n').trim();
}
