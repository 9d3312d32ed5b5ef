import { isBeingLanded } from '../../engine/line/line.ts';
import { type Candidate, type CandidateNumber, compositionOf } from '../../engine/model/candidate.ts';
import type { Check } from '../../engine/model/check.ts';
import type { JudgeCheck } from '../../engine/model/effect.ts';
import type { CheckJudged } from '../../engine/model/event.ts';
import { isAwaited, isWaived, JUDGEMENT_MS, type JudgementFinding, NOT_JUDGED } from '../../engine/model/judgement.ts';
import { askedIn, type Question } from '../../engine/model/question.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import { type FailedTest, MAX_SIGNATURE } from '../../engine/model/signature.ts';
import { answerQuestion } from '../../flaky/answer-question.ts';
import { type CheckFacts, type CheckJudgement, judgeCheck as judgeFacts, ranWhole } from '../../flaky/judge-check.ts';
import { ANY_CHECK } from '../../storage/test-ingest.ts';
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
/** A landing that takes longer has lost its forge. */
const MAX_LANDING_S = 60;

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
  // In the end a passed check is judged by the results that are there.
  const isWaiting = facts.isWaiting && !(isOver && conclusion === 'SUCCESS');
  if (candidate.question !== undefined) {
    const answer = await answerOf(run, candidate.question, { ...facts, check: effect.check, isComplete, isWaiting });
    return answer === undefined && isOver ? { ...NOT_JUDGED, answer: 'none' } : answer;
  }
  const judgement = judgeFacts({ ...facts, isComplete, isWaiting });
  if (judgement.kind === 'open' && !isOver) return undefined;
  const hasReports = facts.results !== undefined && !facts.isWaiting;
  const reportsAfterMs = Math.max(0, app.clock.now() - check.reportedAt);
  const failed = conclusion === 'FAILURE' && hasReports ? signatureIn(run, facts, judgement) : {};
  return { ...toFinding(judgement), ...failed, ...(hasReports && { reportsAfterMs }) };
}

/** Undefined where more results are waited for. */
async function answerOf(
  { app, found }: EffectRun,
  question: Question,
  { check, ...facts }: CheckFacts & { readonly check: string },
): Promise<JudgementFinding | undefined> {
  const tests = askedIn(question, check);
  const { known } = await app.store.testIngest.load(
    found.repositoryId,
    tests.map(({ id }) => id),
  );
  const numbers = new Map(known.map(({ test }) => [test.id, test.no]));
  const asked = tests.map(({ id }) => ({ testId: id, testNo: numbers.get(id) }));
  const { kind, failed } = answerQuestion({ ...facts, asked });
  const signature = tests.filter(({ id }) => failed.includes(id));
  return kind === 'open' ? undefined : { ...NOT_JUDGED, answer: kind, signature };
}

function toFinding({ kind, reason, tests, failing }: CheckJudgement): JudgementFinding {
  return { isWaived: kind === 'excused', reason, tests, failing, ...(kind === 'repeat' && { isRepeat: true }) };
}

/** The failed tests that nothing excuses here. Reports without any are of a failure before the tests. */
// SPEC V68, V74
function signatureIn(
  { found }: EffectRun,
  facts: CheckFacts,
  { tests }: CheckJudgement,
): Pick<JudgementFinding, 'signature' | 'isBuild' | 'isWhole'> {
  const { results, lastPass } = facts;
  const isHonored = found.queue.settings.honorQuarantine === 'ON';
  const known = lastPass?.isWhole === true && lastPass.testNos.length > 0 ? new Set(lastPass.testNos) : undefined;
  const numbers = new Map(results?.failing.map(({ testId, testNo }) => [testId, testNo]));
  const signature = tests
    .filter(({ why }) => why !== undefined || !isHonored)
    .slice(0, MAX_SIGNATURE)
    .map(({ id, name }): FailedTest => {
      const isNew = known?.has(numbers.get(id) ?? -1) === false;
      return { id, name: name.slice(0, MAX_NAME), ...(isNew && { isNew }) };
    });
  return { signature, ...(tests.length === 0 && { isBuild: true }), ...(ranWhole(facts) && { isWhole: true }) };
}

/** A queue keeps names to show them. */
const MAX_NAME = 300;

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

/** The event carries the candidate's record. If another check's judgement overwrites it, it is stored again. */
async function storeForEnded(run: EffectRun, event: Omit<CheckJudged, 'at' | 'ended'>): Promise<void> {
  const { app, found } = run;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const ended = await findPresent(run, event.candidate);
    const check = ended?.checks.find(({ name }) => name === event.check);
    if (ended?.endedAt === undefined || check?.judgement?.kind === 'judged') return;
    await app.queues.run(found.id, () => ({ ...event, at: app.clock.now(), ended }));
  }
}

/** Before the landing late results may undo the pass, after it they amend its record. During it nothing is known. */
// SPEC V61
async function judgeLate(run: EffectRun, number: CandidateNumber, name: string): Promise<void> {
  const { app, found } = run;
  for (let tries = 0; tries < MAX_LANDING_S; tries += 1) {
    const candidate = await findPresent(run, number);
    const check = candidate?.checks.find((each) => each.name === name);
    if (candidate === undefined || check === undefined || !isDecidedByPass(check)) return;
    const { conclusion, startedAt: attempt } = check;
    const facts = await collectCheckFacts(run, candidate, { check: name, conclusion });
    const judgement = judgeFacts({ ...facts, isComplete: true, isWaiting: false });
    const event = { kind: 'check_judged' as const, candidate: number, check: name, attempt, ...toFinding(judgement) };
    if (candidate.endedAt !== undefined) return storeLate(run, candidate, event);
    let isLanding = false;
    await app.queues.run(found.id, (queue) => {
      const live = findCandidate(queue, number);
      isLanding = live === undefined || (live.state === 'passed' && isBeingLanded(queue, live));
      return isLanding || judgement.failing === 0 ? undefined : { ...event, at: app.clock.now() };
    });
    if (!isLanding || judgement.failing === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    app.clock.after(POLL_EVERY_MS, resolve);
    await promise;
  }
}

/** More failures may still change what it means. */
function isDecidedByPass(check: Check): check is Check & { readonly conclusion: CheckFacts['conclusion'] } {
  if (check.conclusion === 'FAILURE') return isWaived(check);
  return check.conclusion === 'SUCCESS' && !isAwaited(check);
}

async function storeLate({ app, found }: EffectRun, ended: Candidate, event: Omit<CheckJudged, 'at'>): Promise<void> {
  const present = (await app.queues.find(found.id)) ?? found;
  const entries = await findAnyEntries(app, present, numbersOf(compositionOf(ended)));
  const landed = [...entries.values()].filter((entry) => entry.landed?.candidate === ended.number);
  const records = landed.flatMap((entry) => [...(entry.landed?.waived ?? []), ...(entry.landed?.excused ?? [])]);
  const told = new Set(records.filter(({ check }) => check === event.check).flatMap(({ tests }) => tests.map(idOf)));
  const tests = event.tests.filter(({ id }) => !told.has(id));
  if (tests.length === 0) return;
  const isExcused = tests.every(({ why }) => why === undefined);
  await app.queues.run(found.id, () => ({ ...event, at: app.clock.now(), ended, tests, isWaived: isExcused, landed }));
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** Resolves when this server has stored results of the check. */
function listen({ app, found }: EffectRun, effect: JudgeCheck) {
  const candidateId = candidateIdOf(found.id, effect.candidate);
  let { promise, resolve } = Promise.withResolvers<void>();
  const end = app.ingest.onCheckResults((result) => {
    if (result.candidateId === candidateId && [effect.check, ANY_CHECK].includes(result.check)) resolve();
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

/** Judges reports that this server stores for a check that was decided. Returns how to stop. */
// SPEC V61, V63
export function watchLateReports(app: App): () => void {
  // One after the other, because each amends the record of the landing.
  let last = Promise.resolve();
  return app.ingest.onCheckResults(({ candidateId, check }) => {
    const judged = last.then(() => judgeReports(app, candidateId, check));
    last = judged.catch((err: unknown) => {
      app.log.warn({ err, testRun: candidateId, check }, 'could not judge reports that arrived late');
    });
  });
}

async function judgeReports(app: App, candidateId: string, check: string): Promise<void> {
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  const candidate = row && decodeCandidate(row);
  if (row === undefined || candidate === undefined) return;
  if (candidate.endedAt !== undefined && candidate.pass === undefined) return;
  const found = await findPlace(app, row.queueId);
  if (found === undefined || found.repository.blockedReason !== null) return;
  const names = check === ANY_CHECK ? (candidate.required?.names ?? []) : [check];
  for (const name of names) await judgeLate(effectRunIn(app, found), row.number as CandidateNumber, name);
}
