import type { RunnerCheck } from '../../checks/check.ts';
import { CONFIGURATION_FILE, checksOfFile } from '../../checks/file-checks.ts';
import type { CandidateNumber, Member } from '../../engine/model/candidate.ts';
import type { CandidateEvent, LaneEvent, LineRead, RemovedPullRequestObserved } from '../../engine/model/event.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Entry } from '../../engine/model/queue.ts';
import type { CandidateEntry, Forge } from '../../forge/forge.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { QueueId } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { type FoundQueue, getForge, toForgeRepository } from '../core/find-queue.ts';
import { findAnyEntries } from '../queue/find-entry.ts';
import { explainBlockedChecks } from '../repositories/repositories.ts';

/** The context of one effect, read when it is claimed. */
export interface EffectRun {
  readonly app: App;
  readonly found: FoundQueue;
  readonly forge: Forge;
  readonly repository: ForgeRepository;
  /** The commands that the built-in runner runs for every candidate. */
  readonly checks: readonly RunnerCheck[];
  /** The reason why this server may not run them. */
  readonly checksBlocked: string | undefined;
  /** Globs of the test reports that the commands write. */
  readonly junit: readonly string[];
}

/** Undefined if the queue or its repository is gone. */
export async function findPlace(app: App, queueId: QueueId): Promise<FoundQueue | undefined> {
  const found = await app.queues.find(queueId);
  const repository = found && (await app.directory.findRepositoryById(found.repositoryId));
  return found === undefined || repository === undefined ? undefined : { ...found, repository };
}

/** Not for a blocked repository. */
export function effectRunIn(app: App, found: FoundQueue): EffectRun {
  const { checks, junit, host } = found.repository;
  const repository = toForgeRepository(found.repository);
  const checksBlocked = explainBlockedChecks(app, found.repository);
  return { app, found, forge: getForge(app, host), repository, checks, checksBlocked, junit };
}

/** None if the file asks for more than is granted since the candidate was built. */
// SPEC R60
export async function checksOn({ forge, repository, checks }: EffectRun, sha: Sha): Promise<readonly RunnerCheck[]> {
  if (repository.fileChecks === null) return checks;
  const file = await forge.readFile?.({ repository, sha, path: CONFIGURATION_FILE });
  const chosen = checksOfFile(repository, file);
  return 'problem' in chosen ? [] : chosen;
}

/** The outcome: an event for the queue, nothing, or another attempt later. */
export type EffectAnswer =
  | {
      readonly kind: 'event';
      readonly event: WithoutInstant<CandidateEvent | LaneEvent | LineRead | RemovedPullRequestObserved>;
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'later'; readonly delayMs: number };

/** Takes minutes or hours, and occupies no worker. It ends early when the server stops or loses its lease. */
export interface LongEffect {
  readonly kind: 'long_running';
  run(stop: AbortSignal): Promise<EffectAnswer>;
}

type WithoutInstant<E> = E extends unknown ? Omit<E, 'at'> : never;

export const DONE: EffectAnswer = { kind: 'done' };

/** Hooks of a repository may take minutes: an effect that waits for them occupies no worker. */
export async function waitForHooks(
  { repository }: EffectRun,
  act: () => Promise<EffectAnswer | LongEffect>,
): Promise<EffectAnswer | LongEffect> {
  if (repository.runHooks !== true) return act();
  const runToEnd = async (stop: AbortSignal) => {
    const answer = await act();
    return answer.kind === 'long_running' ? answer.run(stop) : answer;
  };
  return { kind: 'long_running', run: runToEnd };
}

export function placeOf({ app, found, repository }: EffectRun, candidate: CandidateNumber) {
  const { signingKey: proofKey } = app.store;
  return { repository, targetBranch: found.queue.branch, candidateId: candidateIdOf(found.id, candidate), proofKey };
}

/** The entries as commits need them, of a commit of `all`. Landed ones are read from the store. */
export async function toCandidateEntries(
  { app, found }: EffectRun,
  members: readonly Member[],
  all = members,
): Promise<CandidateEntry[]> {
  const entries = await findAnyEntries(app, found, numbersOf(members));
  const below = await findHeadsBelow(app, found, all, entries);
  return members.map(({ prNumber, headSha }) => {
    const { title = `#${prNumber}`, author = '', mergeTitle } = entries.get(prNumber)?.pr ?? {};
    return { prNumber, headSha, title, author, ...present({ mergeTitle, below: below.get(prNumber) }) };
  });
}

/** The heads of what each member is built on: those in the same commit, and those that this queue landed before. */
async function findHeadsBelow(
  app: App,
  found: FoundQueue,
  all: readonly Member[],
  entries: ReadonlyMap<PrNumber, Entry>,
): Promise<ReadonlyMap<PrNumber, readonly Sha[]>> {
  const inside = new Map(all.map(({ prNumber, headSha }) => [prNumber, headSha]));
  const numbers = [...entries.values()].flatMap(({ pr }) => pr.below?.map(({ number }) => number) ?? []);
  if (numbers.length === 0) return NOTHING_BELOW;
  const others = await findAnyEntries(
    app,
    found,
    [...new Set(numbers)].filter((number) => !inside.has(number)),
  );
  const headOf = (number: PrNumber) => {
    const other = others.get(number);
    return inside.get(number) ?? (other?.state === 'MERGED' ? other.pr.headSha : undefined);
  };
  const below = new Map<PrNumber, readonly Sha[]>();
  for (const { prNumber, pr } of entries.values()) {
    const heads = pr.below?.flatMap(({ number }) => headOf(number) ?? []) ?? [];
    if (heads.length > 0) below.set(prNumber, heads);
  }
  return below;
}

const NOTHING_BELOW: ReadonlyMap<PrNumber, readonly Sha[]> = new Map();

export function numbersOf(members: readonly Member[]): readonly PrNumber[] {
  return members.map(({ prNumber }) => prNumber);
}
