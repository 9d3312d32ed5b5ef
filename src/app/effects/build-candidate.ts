import { branchSubjectOf, type Candidate, compositionOf, isKept, openChecks } from '../../engine/model/candidate.ts';
import type { BuildCandidate, DiscardCandidate, ReviewRequired } from '../../engine/model/effect.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import type { BuildAnswer } from '../../forge/forge.ts';
import { present } from '../../lib/present.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import { findAnyCandidate } from '../queue/find-entry.ts';
import { observeTargetBranch } from '../queue/forge-facts.ts';
import {
  DONE,
  type EffectAnswer,
  type EffectRun,
  type LongEffect,
  placeOf,
  toCandidateEntries,
  waitForHooks,
} from './effect-run.ts';

/** The parent candidate is being built. That takes as long as a merge, or until git answers again. */
function parentDelayMs(ageMs: number): number {
  return Math.min(5_000, Math.max(25, Math.floor(ageMs / 4)));
}

export async function buildCandidate(run: EffectRun, effect: BuildCandidate): Promise<EffectAnswer> {
  const { queue } = run.found;
  const candidate = findCandidate(queue, effect.candidate);
  if (candidate?.state !== 'building') return DONE;
  const parent = await loadParent(run, candidate);
  if (parent?.state === 'building')
    return { kind: 'later', delayMs: parentDelayMs(run.app.clock.now() - parent.plannedAt) };
  const answer = await build(run, candidate, parent);
  const isByTarget = answer.kind === 'conflict' && answer.culprit === undefined;
  // The queue learns of the branch's head with a delay. A conflict with a head that the branch has left removes no entry.
  // SPEC C9
  const head = isByTarget ? await run.forge.findBranchHead(run.repository, queue.branch) : undefined;
  if (isByTarget && (await observeTargetBranch(run.app, run.found, head))) return { kind: 'later', delayMs: 0 };
  const isHeadUnproven = candidate.purpose.kind === 'direct' && (await isQuarantinedAutomatically(run));
  return { kind: 'event', event: toEvent(candidate, answer, isHeadUnproven) };
}

// SPEC L28
async function isQuarantinedAutomatically({ app, found }: EffectRun): Promise<boolean> {
  const repository = await app.directory.findRepositoryById(found.repositoryId);
  const { settings } = repository === undefined ? {} : await readTestSettings(app.store, repository);
  return settings?.quarantineEnabled === true && settings.autoQuarantine;
}

/** The same request builds the same commit, so that a second build only reads what is required of it now. */
export async function reviewRequired(run: EffectRun, effect: ReviewRequired): Promise<EffectAnswer> {
  const candidate = findCandidate(run.found.queue, effect.candidate);
  if (candidate?.state !== 'testing' && candidate?.isUnderReview !== true) return DONE;
  const answer = await build(run, candidate, await loadParent(run, candidate));
  const sources = answer.kind === 'built' ? answer.sources : undefined;
  return { kind: 'event', event: { kind: 'required_reviewed', candidate: candidate.number, sources } };
}

async function loadParent(run: EffectRun, { parent }: Candidate): Promise<Candidate | undefined> {
  return parent === undefined ? undefined : await findAnyCandidate(run.app, run.found, parent);
}

async function build(run: EffectRun, candidate: Candidate, parent: Candidate | undefined): Promise<BuildAnswer> {
  return run.forge.buildCandidate({
    ...placeOf(run, candidate.number),
    base: candidate.base.sha,
    parent: parent?.commit?.sha,
    beneath: await toCandidateEntries(run, candidate.beneath),
    members: await toCandidateEntries(run, candidate.members, compositionOf(candidate)),
    mergeMethod: candidate.mergeMethod,
    plannedAt: candidate.plannedAt,
  });
}

function toEvent({ number: candidate }: Candidate, answer: BuildAnswer, isHeadUnproven: boolean) {
  switch (answer.kind) {
    case 'built':
      return {
        ...answer,
        kind: 'candidate_built' as const,
        candidate,
        ...(isHeadUnproven && { isHeadUnproven: true as const }),
      };
    case 'conflict':
      return { ...answer, kind: 'candidate_conflicted' as const, candidate };
    case 'unbuildable':
      return { ...answer, kind: 'candidate_unbuildable' as const, candidate };
  }
}

export async function discardCandidate(run: EffectRun, effect: DiscardCandidate): Promise<EffectAnswer | LongEffect> {
  const candidate = await findAnyCandidate(run.app, run.found, effect.candidate);
  if (candidate === undefined) return DONE;

  return waitForHooks(run, async () => {
    await run.forge.discardCandidate({
      ...placeOf(run, candidate.number),
      ...branchSubjectOf(candidate),
      ...present({ unfinished: findUnfinished(candidate) }),
      keepsCommit: isKept(candidate),
    });
    return DONE;
  });
}

/** The commit, if CI still runs checks on it: one failure decides a candidate while its other checks continue. */
function findUnfinished(candidate: Candidate) {
  const { state, testingSince, sameTreeAs, commit } = candidate;
  const isShown = testingSince !== undefined && sameTreeAs === undefined;
  return isShown && state !== 'passed' && openChecks(candidate).length > 0 ? commit?.sha : undefined;
}
