import { paint, write } from '../../../src/cli/core/terminal.ts';
import type { FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../../../test/fake/github/model.ts';
import { until } from '../commands.ts';
import { readable } from '../readable.ts';
import { readFiles, STORY } from '../story.ts';

/** The pull requests of the plain demo that give people text to read. */
const CAST = [
  { author: 'radia', of: 3, note: 'good', ending: 'Landed' },
  { author: 'edsger', of: 4, note: 'breaks a test, until somebody mends it', ending: 'Landed' },
  { author: 'ken', of: 6, note: 'good', ending: 'Landed' },
  { author: 'donald', of: 7, note: 'good alone, breaks together with #3', ending: 'Failed and removed' },
] as const;

/** Plays the people until every pull request has landed or left; returns the surprises. */
export async function play(
  github: FakeGithub,
  repository: Repository,
  signal: AbortSignal,
): Promise<readonly string[]> {
  write(`\n${paint('bold', 'Now four pull requests. Indented is what people read on them, whenever it changes.')}\n`);
  const prs: PullRequest[] = [];
  for (const { author, of, note } of CAST) prs.push(await open(github, repository, { author, of, note }));
  const shown = new Map<number, string>();
  const watch = async (isOver: () => boolean) => {
    await until(signal, () => {
      for (const pr of prs) showNews(pr, shown);
      return isOver() || undefined;
    });
  };
  const [first, second, ...others] = prs as [PullRequest, PullRequest, ...PullRequest[]];
  comment(github, first, 'mallory');
  await watch(() => ownComments(first).length === 1);
  comment(github, first, 'radia');
  await watch(() => headingOf(first).includes('not ready'));
  for (const pr of prs) approve(github, pr);
  await watch(() => headingOf(first).includes('Landed'));
  for (const pr of others) {
    comment(github, pr, pr.author.login);
    // Keeps the order on a machine of any speed.
    await watch(() => headingOf(pr) !== '' && !headingOf(pr).includes('not ready'));
  }
  await watch(() => others.every(hasEnded));
  comment(github, second, 'edsger');
  await watch(() => headingOf(second).includes('not ready'));
  write(paint('cyan', `edsger pushes a fix to #${second.number}`));
  await github.push(second, readFiles('pull-requests/4-mended'));
  await watch(() => hasEnded(second));
  return prs.flatMap((pr, index) => findSurprise(pr, CAST[index]?.ending ?? ''));
}

function hasEnded(pr: PullRequest): boolean {
  return /Landed|removed|Not in the queue/.test(headingOf(pr));
}

function findSurprise(pr: PullRequest, ending: string): string[] {
  const isAsTold = headingOf(pr).includes(ending) && (pr.merged !== undefined) === (ending === 'Landed');
  return isAsTold ? [] : [`#${pr.number} ${pr.title}: expected "${ending}", found "${headingOf(pr)}"`];
}

interface Part {
  readonly author: string;
  readonly of: number;
  readonly note: string;
}

async function open(github: FakeGithub, repository: Repository, { author, of, note }: Part): Promise<PullRequest> {
  const { title, files } = STORY.find(({ number }) => number === of) ?? STORY[0] ?? { title: '', files: {} };
  const pr = await github.openPullRequest(repository, { author, branch: `${author}/${of}`, title, files });
  write(`${author} opens #${pr.number} ${title}: ${note}`);
  return pr;
}

function comment(github: FakeGithub, pr: PullRequest, login: string): void {
  write(`\n${paint('cyan', `${login} comments on #${pr.number}: /sluice merge`)}`);
  github.comment(pr, login, '/sluice merge');
}

function approve(github: FakeGithub, pr: PullRequest): void {
  write(paint('cyan', `grace approves #${pr.number}`));
  github.review(pr, 'grace');
}

/** Sluice's comments, the sticky one last. */
function ownComments(pr: PullRequest): readonly string[] {
  const own = pr.comments.filter(({ author }) => author.type === 'Bot').map(({ body }) => body);
  return own.toSorted((a, b) => Number(isSticky(a)) - Number(isSticky(b)));
}

function isSticky(body: string): boolean {
  return body.includes('<!-- sluice:queue -->');
}

function headingOf(pr: PullRequest): string {
  return /^### (.*)$/m.exec(ownComments(pr).find(isSticky) ?? '')?.[1] ?? '';
}

function showNews(pr: PullRequest, shown: Map<number, string>): void {
  const text = readable(ownComments(pr).at(-1) ?? '');
  if (text === '' || shown.get(pr.number) === text) return;
  shown.set(pr.number, text);
  write(`\n${paint('bold', `#${pr.number} ${pr.title}`)}\n${text.replaceAll(/^/gm, '    ')}`);
}
