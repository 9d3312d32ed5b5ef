import { type Commit, readCommits } from '../hosted/git.ts';
import type { PullRequest } from './model.ts';

export interface MergeMessage {
  readonly title: string;
  readonly body: string;
}

/** GitHub's default message. */
export async function defaultMessage(pr: PullRequest, base: string, method: 'merge' | 'squash'): Promise<MergeMessage> {
  if (method === 'merge') return mergeMessage(pr);
  return squashMessage(pr, await readCommits(pr.repository.gitDir, { tip: pr.headSha, without: base }));
}

function mergeMessage({ number, headOwner, headRef, title: body }: PullRequest): MergeMessage {
  return { title: `Merge pull request #${number} from ${headOwner.login}/${headRef}`, body };
}

function squashMessage(pr: PullRequest, commits: readonly Commit[]): MergeMessage {
  const own = commits.filter(({ parents }) => parents.length < 2);
  const [only] = own.length === 1 ? own : [];
  const subject = only === undefined ? pr.title : subjectOf(only);
  return { title: `${subject} (#${pr.number})`, body: withCoAuthors(listMessages(own), pr, own) };
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
