import type { revertPullRequest as operation } from '../../contract/breakage.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { compositionOf, type Landed } from '../../engine/model/candidate.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { RevertAnswer, RevertRequest } from '../../forge/forge.ts';
import { Fault } from '../../lib/fault.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import { listOf, shortSha } from '../../words/phrases.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type FoundQueue, findQueue, formatRef, getForge, toForgeRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { findAnyCandidate, findAnyEntries, findEndedEntry, neverSubmitted } from './find-entry.ts';
import { findHighest } from './find-pull-request.ts';
import { findPullRequest } from './forge-facts.ts';
import { pullRequestNotFound, submitPullRequest } from './submit-pull-request.ts';

type Input = RequestOf<typeof operation>;
type Subject = Pick<RevertRequest, 'commit' | 'before' | 'subject' | 'prNumber'>;

/** A landing of more commits, or a commit further back, is not taken back. */
const MOST_COMMITS = 10_000;

// SPEC L62
export async function revertPullRequest(app: App, caller: Caller, input: Input): Answer<ReplyOf<typeof operation>> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { targetBranch } = input;
  const repository = toForgeRepository(found.repository);
  const forge = getForge(app, repository.host);
  const head = await forge.findBranchHead(repository, targetBranch);
  if (head === undefined) return refuse('NOTHING_TO_REVERT', `The branch ${targetBranch} does not exist any more.`);
  const subject = await findSubject(app, found, input);
  if (isRefusal(subject)) return subject;
  if (!(await isOnLine(app, found, head, subject.commit))) return notOnBranch(subject, targetBranch);
  const above = await findHighest(app, found);
  const actor = caller.name;
  const answer = await forge.proposeRevert?.({ repository, targetBranch, head, ...subject, actor, above });
  if (answer?.kind !== 'proposed') return refuseRevert(answer, subject, found);
  return submit(app, caller, { ...input, prNumber: answer.number, found, subject });
}

function findSubject(app: App, found: FoundQueue, { pr, commit }: Input): Answer<Subject> {
  if (pr !== undefined) return findLanding(app, found, pr.number);
  return Promise.resolve({ commit: commit as Sha, before: undefined, subject: undefined, prNumber: undefined });
}

async function findLanding(app: App, found: FoundQueue, prNumber: PrNumber): Answer<Subject> {
  const { repository: repo, queue } = found;
  const entry = await findEndedEntry(app, found, prNumber);
  if (entry === undefined) return neverSubmitted({ repo, targetBranch: queue.branch, prNumber });
  const { landed, pr } = entry;
  if (landed !== undefined)
    return { commit: landed.sha, before: await findBefore(app, found, landed), subject: pr.title, prNumber };
  const how =
    entry.state === 'MERGED' ? 'was merged past the queue. Name its commit: sluice revert COMMIT' : 'has not landed.';
  return refuse('NOTHING_TO_REVERT', `#${prNumber} ${how}`);
}

/** The commit before the first one of an entry: of another entry of its landing, or the head that this began on. */
async function findBefore(app: App, found: FoundQueue, landed: Landed): Promise<Sha> {
  const { sha, base, candidate } = landed;
  const run = await findAnyCandidate(app, found, candidate);
  const numbers = run === undefined ? [] : compositionOf(run).map(({ prNumber }) => prNumber);
  const others = await findAnyEntries(app, found, numbers);
  const ends = new Set([...others.values()].flatMap((other) => other.landed?.sha ?? []));
  const repository = toForgeRepository(found.repository);
  const question = { repository, head: sha, since: base, limit: MOST_COMMITS };
  const line = await getForge(app, repository.host).listLine(question);
  const [, ...earlier] = line.kind === 'line' ? line.commits : [];
  return earlier.find((commit) => ends.has(commit.sha))?.sha ?? base;
}

async function isOnLine(app: App, { repository: of }: FoundQueue, head: Sha, commit: Sha): Promise<boolean> {
  const repository = toForgeRepository(of);
  const question = { repository, head, since: commit, limit: MOST_COMMITS };
  return (await getForge(app, repository.host).listLine(question)).kind === 'line';
}

function nameOf({ prNumber, commit }: Subject): string {
  return prNumber === undefined ? shortSha(commit) : `#${prNumber}`;
}

function notOnBranch(subject: Subject, branch: string): Refusal {
  return refuse(
    'NOTHING_TO_REVERT',
    `${nameOf(subject)} is not on the first-parent line of ${branch}, or more than ${MOST_COMMITS} commits ago.`,
  );
}

// SPEC L64
function refuseRevert(
  answer: Exclude<RevertAnswer, { readonly kind: 'proposed' }> | undefined,
  subject: Subject,
  { queue: { branch }, repository }: FoundQueue,
): Refusal {
  const name = nameOf(subject);
  switch (answer?.kind) {
    case 'conflict': {
      const byHand = `git revert ${subject.commit} on a branch from ${branch}, mend it, and submit it with --repair`;
      return refuse(
        'REVERT_CONFLICTS',
        `Later commits changed what ${name} brought, in ${listOf(answer.files)}. Nothing was made. By hand: ${byHand}.`,
      );
    }
    case 'nothing':
      return refuse('NOTHING_TO_REVERT', `${branch} has nothing any more of what ${name} brought.`);
    case 'refused':
      throw new Fault('FORGE_UNAVAILABLE', answer.detail);
    default:
      throw new Fault('FORGE_UNAVAILABLE', `Nothing can be reverted in ${formatRef(repository)}.`);
  }
}

interface Made extends Input {
  readonly prNumber: PrNumber;
  readonly found: FoundQueue;
  readonly subject: Subject;
}

// SPEC L63
async function submit(app: App, caller: Caller, made: Made): Answer<ReplyOf<typeof operation>> {
  const { repo, targetBranch, prNumber, found, subject } = made;
  const entryRef = { repo, targetBranch, prNumber };
  const urgent = { ...entryRef, priority: 'urgent', repair: true };
  const entry = made.submit === false ? undefined : await submitPullRequest(app, caller, urgent);
  if (isRefusal(entry)) return entry;
  const pr = await findPullRequest(app, found, prNumber);
  if (pr === undefined) return pullRequestNotFound(entryRef);
  const next = entry === undefined ? `Submit it: sluice pr submit ${prNumber} --repair` : 'It goes first as a repair.';
  return {
    ...{ prNumber, prSha: pr.headSha, prUrl: pr.url, prTitle: pr.title, commit: subject.commit },
    ...present({ entry }),
    text: `#${prNumber} takes back ${nameOf(subject)}. ${next}`,
  };
}
