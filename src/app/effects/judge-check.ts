import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { JudgeCheck } from '../../engine/model/effect.ts';
import type { CheckJudged } from '../../engine/model/event.ts';
import { JUDGEMENT_MS, type JudgementFinding } from '../../engine/model/judgement.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import { type CheckJudgement, judgeCheck as judgeFacts } from '../../flaky/judge-check.ts';
import type { App } from '../core/app.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeCandidate } from '../core/queue-codec.ts';
import { findAnyCandidate, findAnyEntries } from '../queue/find-entry.ts';
import { collectCheckFacts } from './check-facts.ts';
import { DONE, type EffectAnswer, type EffectRun, effectRunIn, findPlace, numbersOf } from './effect-run.ts';

/** Another server may store the results: this one polls for them. */
const POLL_EVERY_MS = 1_000;
/** The queue stops waiting at its own deadline. The judgement must come before it, because it says more. */
const MARGIN_MS = 2_000;
/** More time left than this means that the clock was set back. The margin allows for clocks of two servers. */
const MOST_LEFT_MS = 2 * JUDGEMENT_MS;
const MAX_TRIES = 5;

/** Waits for the results of a check until the queue's deadline, and stores what they mean. */
export async function judgeCheck(run: EffectRun, effect: JudgeCheck, stop: AbortSignal): Promise<EffectAnswer> {
  const { app } = run;
  const news = listen(run, effect);
  try {
    for (;;) {
      const stored = news.next();
      const finding = await judgeNow(run, effect);
      if (finding === 'nothing to judge') return DONE;
      if (finding !== undefined) {
        await storeFinding(run, effect, finding);
        return DONE;
      }
      if (stop.aborted) return { kind: 'later', delayMs: 0 };
      const { until, reportsUntil = until } = effect;
      const waits = [until - MARGIN_MS, reportsUntil].map((at) => at - app.clock.now()).filter((ms) => ms > 0);
      await waitFor(run, stored, stop, Math.min(POLL_EVERY_MS, ...waits));
      if (stop.aborted) return { kind: 'later', delayMs: 0 };
    }
  } finally {
    news.end();
  }
}

/** Undefined where more results are waited for. */
async function judgeNow(
  run: EffectRun,
  effect: JudgeCheck,
): Promise<JudgementFinding | 'nothing to judge' | undefined> {
  const { app } = run;
  const candidate = await findPresent(run, effect.candidate);
  const check = candidate?.checks.find(({ name }) => name === effect.check);
  if (candidate === undefined || check === undefined || check.startedAt !== effect.attempt) return 'nothing to judge';
  const { conclusion } = check;
  if (conclusion !== 'FAILURE' && conclusion !== 'SUCCESS') return 'nothing to judge';
  if (check.judgement?.kind === 'judged') return 'nothing to judge';
  const leftMs = effect.until - MARGIN_MS - app.clock.now();
  const isOver = leftMs <= 0 || leftMs > MOST_LEFT_MS;
  const facts = await collectCheckFacts(run, candidate, { check: effect.check, conclusion });
  const isComplete = facts.isComplete || isOver || app.clock.now() >= (effect.reportsUntil ?? effect.until);
  const judgement = judgeFacts({ ...facts, isComplete });
  if (judgement.kind === 'open' && !isOver) return undefined;
  const hasReports = facts.results !== undefined && !facts.isWaiting;
  const reportsAfterMs = Math.max(0, app.clock.now() - check.reportedAt);
  return { ...toFinding(judgement, conclusion), ...(hasReports && { reportsAfterMs }) };
}

/** A pass counts if its reports are still being processed at the end. */
function toFinding({ kind, reason, tests, failing }: CheckJudgement, conclusion: string): JudgementFinding {
  const isWaived = kind === 'excused' || (kind === 'open' && conclusion === 'SUCCESS');
  return { isWaived, reason, tests, failing, ...(kind === 'repeat' && { isRepeat: true }) };
}

/** The candidate as it is now. */
async function findPresent({ app, found }: EffectRun, number: CandidateNumber): Promise<Candidate | undefined> {
  const loaded = await app.queues.find(found.id);
  return loaded && findAnyCandidate(app, loaded, number);
}

async function storeFinding(run: EffectRun, effect: JudgeCheck, finding: JudgementFinding): Promise<void> {
  const { app, found } = run;
  const { candidate, check, attempt } = effect;
  const event = { kind: 'check_judged' as const, candidate, check, attempt, ...finding };
  let isLive = false;
  await app.queues.run(found.id, (queue) => {
    isLive = findCandidate(queue, candidate) !== undefined;
    return isLive ? { ...event, at: app.clock.now() } : undefined;
  });
  if (!isLive) await storeForEnded(run, event);
}

/**
 * For an ended candidate the event carries its record, so that people can read the finding. The judgement of another
 * check may overwrite that record at the same time: then it is stored again.
 */
async function storeForEnded(run: EffectRun, event: Omit<CheckJudged, 'at' | 'ended'>): Promise<void> {
  const { app, found } = run;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const ended = await findPresent(run, event.candidate);
    const check = ended?.checks.find(({ name }) => name === event.check);
    if (ended?.endedAt === undefined || check?.judgement?.kind === 'judged') return;
    await app.queues.run(found.id, () => ({ ...event, at: app.clock.now(), ended }));
  }
}

/** Judges results of a passed check that came after its candidate landed. */
// SPEC V61
async function judgeLate(run: EffectRun, number: CandidateNumber, name: string): Promise<void> {
  const candidate = await findPresent(run, number);
  const check = candidate?.checks.find((each) => each.name === name);
  if (candidate === undefined || check?.conclusion !== 'SUCCESS' || check.judgement !== undefined) return;
  const facts = await collectCheckFacts(run, candidate, { check: name, conclusion: 'SUCCESS' });
  const judgement = judgeFacts({ ...facts, isComplete: true });
  if (judgement.kind === 'open' || judgement.failing === 0) return;
  const entries = await findAnyEntries(run.app, run.found, numbersOf(candidate.members));
  const landed = [...entries.values()].filter((entry) => entry.landed?.candidate === number);
  const event = { kind: 'check_judged' as const, candidate: number, check: name, attempt: check.startedAt };
  await storeForEnded(run, { ...event, ...toFinding(judgement, 'SUCCESS'), landed });
}

/** Resolves when this server has stored results of the check. */
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

function waitFor({ app }: EffectRun, stored: Promise<void>, stop: AbortSignal, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = app.clock.after(ms, resolve);
  const onStop = () => resolve();
  stop.addEventListener('abort', onStop, { once: true });
  void stored.then(resolve);
  return promise.finally(() => {
    cancel();
    stop.removeEventListener('abort', onStop);
  });
}

/** Judges reports that this server stores for a check whose candidate has landed. Returns how to stop. */
// SPEC V61
export function watchLateReports(app: App): () => void {
  return app.ingest.onCheckResults(({ candidateId, check }) => {
    void judgeReports(app, candidateId, check).catch((err: unknown) => {
      app.log.warn({ err, testRun: candidateId, check }, 'could not judge reports that arrived late');
    });
  });
}

async function judgeReports(app: App, candidateId: string, check: string): Promise<void> {
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  if (row === undefined || decodeCandidate(row).ending?.reason !== 'MERGE_GRAPH_MERGE') return;
  const found = await findPlace(app, row.queueId);
  if (found === undefined || found.repository.blockedReason !== null) return;
  await judgeLate(effectRunIn(app, found), row.number as CandidateNumber, check);
}
