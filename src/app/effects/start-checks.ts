import { branchSubjectOf, type Candidate } from '../../engine/model/candidate.ts';
import type { StartChecks } from '../../engine/model/effect.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import { digestCommands } from '../../forge/digest-commands.ts';
import type { PublishRequest } from '../../forge/forge.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { renderDraft } from '../pr-page/render-draft.ts';
import {
  checksOn,
  DONE,
  type EffectAnswer,
  type EffectRun,
  type LongEffect,
  placeOf,
  toCandidateEntries,
  waitForHooks,
} from './effect-run.ts';
import { runChecks } from './run-checks.ts';

/** As long as queued jobs here may wait for a free slot of another server. */
const CROWDED_MS = 500;

/** Publishes the commit to external CI, and runs the repository's own commands with the built-in runner. */
// SPEC R32, R36, R44
export async function startChecks(known: EffectRun, effect: StartChecks): Promise<EffectAnswer | LongEffect> {
  const candidate = findCandidate(known.found.queue, effect.candidate);
  if (candidate?.state !== 'testing' || candidate.commit === undefined) return DONE;
  const run = { ...known, checks: await checksOn(known, candidate.base.sha) };
  // The queue was paused meanwhile, or a server died. A pass of the changed commands would prove something else.
  if (candidate.required?.commands !== digestCommands(run.checks)) {
    return { kind: 'event', event: { kind: 'checks_lost', candidate: candidate.number, cause: 'commands_changed' } };
  }
  const { store, checkRunner } = run.app;
  if (run.checks.length > 0 && run.checksBlocked !== undefined)
    throw new Fault('RUNNER_UNAVAILABLE', run.checksBlocked);
  // Another server may have a free slot.
  if (store.isShared && run.checks.length > 0 && checkRunner.isCrowded) return { kind: 'later', delayMs: CROWDED_MS };
  const { sha } = candidate.commit;
  return waitForHooks(run, () => show(run, candidate, sha));
}

async function show(run: EffectRun, candidate: Candidate, sha: Sha): Promise<EffectAnswer | LongEffect> {
  const answer = await run.forge.publishCandidate({
    ...placeOf(run, candidate.number),
    sha,
    ...branchSubjectOf(candidate),
    ...(await draftOf(run, candidate)),
  });
  if (answer.kind === 'published') {
    if (run.checks.length === 0) return DONE;
    return { kind: 'long_running', run: (stop) => runChecks(run, candidate, stop) };
  }
  const { reason, detail } = answer;
  return { kind: 'event', event: { kind: 'candidate_unbuildable', candidate: candidate.number, reason, detail } };
}

/** For CI that runs only for pull requests. Plain git has none to open. */
async function draftOf(run: EffectRun, candidate: Candidate): Promise<Pick<PublishRequest, 'draft'>> {
  const { branch, settings } = run.found.queue;
  if (!settings.createPrsForTestingBranches || run.forge.hosting === undefined) return {};
  const [beneath, members] = await Promise.all(
    [candidate.beneath, candidate.members].map((entries) => toCandidateEntries(run, entries)),
  );
  return { draft: { body: renderDraft({ branch, beneath: beneath ?? [], members: members ?? [] }) } };
}
