import { type Candidate, type CandidateNumber, compositionOf, openChecks } from '../engine/model/candidate.ts';
import type { Effect } from '../engine/model/effect.ts';
import type { PullRequestSubmitted, QueueEvent } from '../engine/model/event.ts';
import { NOT_JUDGED } from '../engine/model/judgement.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { askedIn } from '../engine/model/question.ts';
import { type Entry, type EntryId, findCandidate, type Queue } from '../engine/model/queue.ts';
import { composedWithOf, unlanded } from '../engine/model/roster.ts';
import type { ImpactedTargets } from '../engine/model/targets.ts';
import type { Transition } from '../engine/model/work.ts';
import { step } from '../engine/step.ts';
import { nextWakeAt } from '../engine/wake.ts';
import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import { EventClock } from './event-clock.ts';
import type { SimulatedReport } from './simulated-tests.ts';
import { Trees } from './trees.ts';
import { MINUTE_MS } from './workload.ts';

/** An operator resumes the queue this long after an alarm. */
const OPERATOR_MS = 30 * MINUTE_MS;

/** The simulation has one check. Candidates that were built before it began have those that they were built with. */
export const SIMULATED_CHECK = 'ci';
const SOURCES = { file: undefined, fileProblem: undefined, protection: [SIMULATED_CHECK], commands: '' };

/** Everything outside the engine: what conflicts, how tests end, how long it all takes. */
export interface World {
  buildMs(): number;
  landMs(): number;
  findConflict(candidate: Candidate): { prNumber: PrNumber; culprit: PrNumber | undefined } | undefined;
  /** Decides how the checks of a candidate end, and how long after now. */
  beginRun(candidate: Candidate, now: Instant): TestEnd;
  /** CI was busy with a run for this long. `passed` is undefined if it was cut off. */
  endRun(candidate: CandidateNumber, tookMs: number, passed: boolean | undefined): void;
  /** The target branch has this head now. */
  landed(entries: readonly Entry[], head: Sha): void;
  note(transition: Transition, at: Instant): void;
  raiseAlarm(): void;
  /** CI can run single tests. */
  readonly canSelect?: boolean;
  /** Without it there are no reports. */
  reportOf?(candidate: CandidateNumber): SimulatedReport | undefined;
}

export interface TestEnd {
  readonly passes: boolean;
  readonly afterMs: number;
}

interface RunningChecks {
  readonly startedAt: number;
  readonly cancel: () => void;
}

/** Runs the real engine in simulated time, from any queue on. */
export class EngineRun {
  readonly clock: EventClock;
  readonly trees: Trees;
  readonly #world: World;
  readonly #checks = new Map<CandidateNumber, RunningChecks>();
  #queue: Queue;

  constructor(queue: Queue, startsAt: Instant, world: World) {
    this.#queue = queue;
    this.#world = world;
    this.clock = new EventClock(startsAt);
    this.trees = new Trees(queue);
  }

  get queue(): Queue {
    return this.#queue;
  }

  /** Runs the next task or timer; false if there is none. */
  advance(): boolean {
    return this.#wake() || this.clock.advance();
  }

  tell(event: QueueEvent): void {
    const { queue, outcome, transitions, effects } = step(this.#queue, event);
    if (outcome.kind === 'parked') throw new Error(`The engine parked the queue at a ${event.kind}: ${outcome.detail}`);
    this.#queue = queue;
    for (const transition of transitions) this.#note(transition);
    for (const effect of effects) this.carryOut(effect);
  }

  carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'build_candidate':
        this.clock.after(this.#world.buildMs(), () => this.#build(effect.candidate));
        return;
      case 'start_checks':
        return this.#startChecks(effect.candidate);
      case 'judge_check':
        return this.#deny(effect);
      case 'land_candidate':
        this.clock.after(this.#world.landMs(), () => this.#land(effect.candidate));
        return;
      case 'discard_candidate':
        return this.#cutOff(effect.candidate);
      case 'raise_alarm':
        this.#world.raiseAlarm();
        this.clock.after(OPERATOR_MS, () => this.#letGoOn());
        return;
    }
  }

  get #now(): number {
    return this.clock.now;
  }

  /** Call it only before the clock advances, because nextWakeAt is expensive. */
  #wake(): boolean {
    const { nextAt } = this.clock;
    if (nextAt === this.#now) return false;
    const wakeAt = nextWakeAt(withoutBatches(this.#queue), this.#now);
    if (wakeAt === undefined || wakeAt <= this.#now || (nextAt !== undefined && nextAt <= wakeAt)) return false;
    this.clock.now = wakeAt;
    this.tell({ kind: 'time_passed', at: wakeAt });
    return true;
  }

  /** nextWakeAt scans all pending entries to find when batches have waited enough. A timer for each is cheaper. */
  wakeBatch(admittedAt: Instant): void {
    const { batch, batchingMaxWaitTimeMinutes } = this.#queue.settings;
    if (!batch || batchingMaxWaitTimeMinutes === 0) return;
    const waitsUntil = admittedAt + batchingMaxWaitTimeMinutes * MINUTE_MS;
    if (waitsUntil < this.#now) return;
    this.clock.at(waitsUntil, () => this.tell({ kind: 'time_passed', at: waitsUntil }));
  }

  #note(transition: Transition): void {
    if (transition.to === 'PENDING' && transition.from === 'NOT_READY') this.wakeBatch(this.#now);
    this.#world.note(transition, this.#now);
  }

  #letGoOn(): void {
    this.tell({ kind: 'queue_updated', at: this.#now, actor: 'operator', settings: {}, state: 'RUNNING' });
  }

  #build(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate?.state !== 'building') return;
    const found = this.#world.findConflict(candidate);
    if (found !== undefined) {
      this.tell({ kind: 'candidate_conflicted', at: this.#now, candidate: number, ...found });
      return;
    }
    const tree = this.trees.treeOf(candidate);
    const sha = `candidate-${number}` as Sha;
    const sources = this.#world.canSelect ? { ...SOURCES, selecting: [SIMULATED_CHECK] } : SOURCES;
    this.tell({ kind: 'candidate_built', at: this.#now, candidate: number, sha, tree, sources });
  }

  #startChecks(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate === undefined) return;
    const { passes, afterMs } = this.#world.beginRun(candidate, this.#now);
    const cancel = this.clock.after(afterMs, () => this.#report(number, passes));
    this.#checks.set(number, { startedAt: this.#now, cancel });
  }

  /** One failure decides a run. A pass takes all checks. */
  #report(number: CandidateNumber, passes: boolean): void {
    this.#cutOff(number, passes);
    const candidate = findCandidate(this.#queue, number);
    const open = candidate === undefined ? [] : openChecks(candidate);
    for (const name of passes ? open : open.slice(0, 1)) {
      const conclusion = passes ? ('SUCCESS' as const) : ('FAILURE' as const);
      const report = { status: 'COMPLETED' as const, startedAt: undefined, url: undefined, summary: undefined };
      const check = { name, conclusion, ...report };
      this.tell({ kind: 'check_reported', at: this.#now, candidate: number, check });
    }
  }

  /** Failures that quarantine waives are not simulated. */
  #deny({ candidate, check, attempt }: Extract<Effect, { kind: 'judge_check' }>): void {
    const report = this.#world.reportOf?.(candidate) ?? this.#answerOf(candidate, check);
    const judgement = { ...NOT_JUDGED, ...report };
    this.tell({ kind: 'check_judged', at: this.#now, candidate, check, attempt, ...judgement });
  }

  /** A probe was under way when the simulation began. */
  #answerOf(number: CandidateNumber, name: string): SimulatedReport | undefined {
    const { question, checks = [] } = findCandidate(this.#queue, number) ?? {};
    if (question === undefined) return undefined;
    const hasPassed = checks.some((check) => check.name === name && check.conclusion === 'SUCCESS');
    return hasPassed ? { answer: 'passed' } : { answer: 'failed', signature: askedIn(question, name) };
  }

  #cutOff(number: CandidateNumber, passed?: boolean): void {
    const run = this.#checks.get(number);
    if (run === undefined) return;
    run.cancel();
    this.#checks.delete(number);
    this.#world.endRun(number, this.#now - run.startedAt, passed);
  }

  #land(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate?.commit === undefined || this.#queue.landing?.candidate !== number) return;
    const { expectedHead: base } = this.#queue.landing;
    const landing = unlanded(this.#queue, compositionOf(candidate));
    const isComposed = composedWithOf(this.#queue, candidate).length > 0;
    const composed = this.trees.land(landing);
    this.#world.landed(landing, this.trees.head);
    const pushedTree = isComposed ? composed : candidate.commit.tree;
    this.tell({
      kind: 'candidate_landed',
      at: this.#now,
      candidate: number,
      how: isComposed ? 'COMPOSED' : 'SAME_TREE',
      base,
      pushedSha: this.trees.head,
      pushedTree,
      entries: landing.map(({ prNumber }) => ({ prNumber, sha: `landed-${prNumber}` as Sha, tree: pushedTree })),
    });
  }
}

function withoutBatches(queue: Queue): Queue {
  return queue.settings.batch ? { ...queue, settings: { ...queue.settings, batch: false } } : queue;
}

/** A pull request that is ready at once. */
export function submissionOf(
  number: PrNumber,
  at: Instant,
  { baseBranch, targets }: { readonly baseBranch: string; readonly targets: ImpactedTargets },
): PullRequestSubmitted {
  return {
    kind: 'pull_request_submitted',
    at,
    actor: 'author',
    entryId: `entry-${number}` as EntryId,
    pr: {
      number,
      headSha: `change-${number}` as Sha,
      baseBranch,
      title: '',
      author: '',
      url: '',
      status: 'open',
      mergeability: 'MERGEABLE',
      blockReasons: [],
    },
    targets,
    priority: undefined,
    noBatch: undefined,
  };
}
