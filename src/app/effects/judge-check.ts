import type { Candidate, CandidateNumber } from '../../engine/candidate.ts';
import type { JudgeCheck } from '../../engine/effect.ts';
import type { CheckJudged } from '../../engine/event.ts';
import { JUDGEMENT_MS, type JudgementFinding, MAX_JUDGED_TESTS } from '../../engine/judgement.ts';
import { findCandidate } from '../../engine/queue.ts';
import { type FailureJudgement, judgeFailure } from '../../flaky/judge-failure.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { DONE, type EffectAnswer, type EffectRun, type LongEffect } from './effect-run.ts';
import { collectFailureFacts } from './failure-facts.ts';
import { findWaiverEvidence } from './waiver-evidence.ts';

/** Another server may have stored the results; this one hears of them by looking. */
const LOOK_EVERY_MS = 1_000;
/** The queue stops waiting by itself: the answer must be there before, because it says more. */
const MARGIN_MS = 2_000;
/** Where more seems to be left, the clock was put back. A little less is two servers whose clocks differ. */
const MOST_LEFT_MS = 2 * JUDGEMENT_MS;
const MAX_TRIES = 5;

/** Waits until the results of a failed check are there, or until nobody waits for them, and says what they mean. */
export async function judgeCheck(run: EffectRun, effect: JudgeCheck): Promise<LongEffect> {
  return { kind: 'long_running', run: (stop) => judge(run, effect, stop) };
}

async function judge(run: EffectRun, effect: JudgeCheck, stop: AbortSignal): Promise<EffectAnswer> {
  const { app } = run;
  const news = listen(run, effect);
  try {
    for (;;) {
      const heard = news.next();
      const judgement = await look(run, effect);
      if (judgement === undefined) return DONE;
      const leftMs = effect.until - MARGIN_MS - app.clock.now();
      if (judgement.kind !== 'open' || leftMs <= 0 || leftMs > MOST_LEFT_MS) {
        await tell(run, effect, toFinding(judgement));
        return DONE;
      }
      if (stop.aborted) return { kind: 'later', delayMs: 0 };
      await waitFor(run, heard, stop, Math.min(LOOK_EVERY_MS, leftMs));
      if (stop.aborted) return { kind: 'later', delayMs: 0 };
    }
  } finally {
    news.end();
  }
}

/** Undefined where there is nothing to judge any more. */
async function look(run: EffectRun, effect: JudgeCheck): Promise<FailureJudgement | undefined> {
  const candidate = await findAny(run, effect.candidate);
  const check = candidate?.checks.find(({ name }) => name === effect.check);
  if (candidate === undefined || check?.startedAt !== effect.attempt || check?.conclusion !== 'FAILURE')
    return undefined;
  if (check.judgement?.kind === 'judged') return undefined;
  const facts = { ...(await collectFailureFacts(run, candidate, effect.check)), maxFailing: MAX_JUDGED_TESTS };
  const judgement = judgeFailure(facts);
  if (judgement.kind !== 'waived') return judgement;
  // What the evidence is of costs many questions: they are asked only where all else is in order.
  return judgeFailure({ ...facts, evidence: await findWaiverEvidence(run, candidate, facts) });
}

function toFinding({ kind, reason, tests, failing }: FailureJudgement): JudgementFinding {
  return { isWaived: kind === 'waived', reason, tests, failing };
}

/** As it is now: live in the queue or, where it has ended, as the store has it. */
async function findAny({ app, found }: EffectRun, number: CandidateNumber): Promise<Candidate | undefined> {
  const loaded = await app.queues.find(found.id);
  const live = loaded && findCandidate(loaded.queue, number);
  return live ?? findEnded({ app, found }, number);
}

async function findEnded({ app, found }: Pick<EffectRun, 'app' | 'found'>, number: CandidateNumber) {
  const row = await app.store.queues.findCandidate(found.id, number);
  return row === undefined ? undefined : decodeCandidate(row);
}

async function tell(run: EffectRun, effect: JudgeCheck, finding: JudgementFinding): Promise<void> {
  const { app, found } = run;
  const { candidate, check, attempt } = effect;
  const event = { kind: 'check_judged' as const, candidate, check, attempt, ...finding };
  let isLive = false;
  await app.queues.run(found.id, (queue) => {
    isLive = findCandidate(queue, candidate) !== undefined;
    return isLive ? { ...event, at: app.clock.now() } : undefined;
  });
  if (!isLive) await tellOfEnded(run, event);
}

/**
 * One that ended takes its record with it, so that people can still read what was found. A judgement of another of its
 * checks may be stored at the same time, and put this one's record back to what it was: then it is told again.
 */
async function tellOfEnded({ app, found }: EffectRun, event: Omit<CheckJudged, 'at' | 'ended'>): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const ended = await findEnded({ app, found }, event.candidate);
    const check = ended?.checks.find(({ name }) => name === event.check);
    if (ended?.endedAt === undefined || check?.judgement?.kind === 'judged') return;
    await app.queues.run(found.id, () => ({ ...event, at: app.clock.now(), ended }));
  }
}

/** News of results of the check that this server stored. */
function listen({ app, found }: EffectRun, effect: JudgeCheck) {
  const candidateId = candidateIdOf(found.id, effect.candidate);
  let { promise, resolve } = Promise.withResolvers<void>();
  const end = app.ingest.onCheckResults((result) => {
    if (result.candidateId === candidateId && result.check === effect.check) resolve();
  });
  const next = () => {
    ({ promise, resolve } = Promise.withResolvers<void>());
    return promise;
  };
  return { next, end };
}

function waitFor({ app }: EffectRun, heard: Promise<void>, stop: AbortSignal, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = app.clock.after(ms, resolve);
  const onStop = () => resolve();
  stop.addEventListener('abort', onStop, { once: true });
  void heard.then(resolve);
  return promise.finally(() => {
    cancel();
    stop.removeEventListener('abort', onStop);
  });
}
