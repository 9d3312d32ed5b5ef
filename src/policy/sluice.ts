import { type Candidate, type CandidateNumber, compositionOf, type Member } from '../engine/model/candidate.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import { createQueue, type Entry, type Queue } from '../engine/model/queue.ts';
import type { QueueSettings } from '../engine/model/settings.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../engine/model/targets.ts';
import type { Transition } from '../engine/model/work.ts';
import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import { EngineRun, submissionOf, type TestEnd, type World } from './engine-run.ts';
import { type Outcome, Referee } from './referee.ts';
import type { SimulatedReport } from './simulated-tests.ts';
import type { Chance, Workload } from './workload.ts';

export interface SluiceOptions {
  readonly onDecided?: () => void;
  /** The queue begins with this, instead of having learned nothing. */
  readonly learned?: Queue['learned'];
}

/** Runs the real engine. Git and landings take `gitMs`; CI answers after the duration of the run. */
export function runSluice(workload: Workload, settings: QueueSettings, options: SluiceOptions = {}): Outcome {
  const game = playSluice(workload, settings, options);
  for (;;) {
    const step = game.next();
    if (step.done) return step.value;
  }
}

/** The same in small steps, for callers that have other work to do. */
export function* playSluice(
  workload: Workload,
  settings: QueueSettings,
  { onDecided, learned }: SluiceOptions = {},
): Generator<void, Outcome> {
  const world = new WorkloadWorld(workload, onDecided);
  const run = beginRun(workload, beginQueue(settings, learned), world);
  while (run.advance()) yield;
  return world.referee;
}

export function beginRun(workload: Workload, queue: Queue, world: World): EngineRun {
  const run = new EngineRun(queue, workload.changes[0]?.submittedAt ?? 0, world);
  const { heads } = run.queue;
  run.tell({ kind: 'target_observed', at: run.clock.now, head: run.trees.head, since: heads, isDescendant: true });
  for (const { number, submittedAt, targets } of workload.changes) {
    const impact = { baseBranch: queue.branch, targets: targets === undefined ? ALL_TARGETS : listOf(targets) };
    run.clock.at(submittedAt, () => run.tell(submissionOf(number as PrNumber, submittedAt, impact)));
  }
  return run;
}

/** The simulation has one check, whatever the names in the settings. */
export function beginQueue(settings: QueueSettings, learned?: Queue['learned']): Queue {
  const requiredStatuses = settings.requiredStatuses?.length === 0 ? [] : null;
  const queue = createQueue('main', { ...settings, requiredStatuses }, 'RUNNING');
  return { ...queue, learned: learned ?? queue.learned };
}

/** The world of one workload. The referee knows what is broken, and keeps the score. */
export class WorkloadWorld implements World {
  readonly referee: Referee;
  readonly #chance: Chance;
  readonly #reports = new Map<CandidateNumber, SimulatedReport>();
  /** The duration of a test of the head by itself. */
  readonly #medianMs: number;
  readonly #landings = new Map<number, number>();
  /** How many had landed when a commit became the head. */
  readonly #heads = new Map<Sha, number>();

  constructor(workload: Workload, onDecided: (() => void) | undefined) {
    this.referee = new Referee(workload, onDecided);
    this.#chance = workload.chance;
    this.#medianMs = medianOf(workload);
  }

  buildMs(): number {
    return this.#chance.gitMs;
  }

  landMs(): number {
    return this.#chance.gitMs;
  }

  findConflict(candidate: Candidate): { prNumber: PrNumber; culprit: PrNumber | undefined } | undefined {
    const composition = numbersOf(compositionOf(candidate));
    const isInBase = this.#isInBaseOf(candidate);
    for (const [index, { prNumber }] of candidate.members.entries()) {
      const beneath = composition.slice(0, candidate.beneath.length + index);
      const rival = this.referee.findConflict(prNumber, { beneath, isInBase });
      if (rival !== undefined) return { prNumber, culprit: rival === 'target' ? undefined : (rival as PrNumber) };
    }
    return undefined;
  }

  #isInBaseOf({ base }: Candidate): (number: number) => boolean {
    const landed = this.#heads.get(base.sha) ?? 0;
    return (number) => (this.#landings.get(number) ?? Number.POSITIVE_INFINITY) < landed;
  }

  beginRun(candidate: Candidate): TestEnd {
    const members = numbersOf(candidate.members);
    const tested = { members, beneath: numbersOf(candidate.beneath), isInBase: this.#isInBaseOf(candidate) };
    const share = candidate.question === undefined ? 1 : (this.#chance.probeShare ?? 1);
    const afterMs = share * (members.length === 0 ? this.#medianMs : this.referee.durationOf(members));
    if (this.#chance.maskRate === undefined) return { passes: this.referee.beginRun(tested), afterMs };
    const { passes, report } = this.referee.beginReported(tested, candidate);
    this.#reports.set(candidate.number, report);
    return { passes, afterMs };
  }

  get canSelect(): boolean {
    return this.#chance.probeShare !== undefined;
  }

  reportOf(candidate: CandidateNumber): SimulatedReport | undefined {
    return this.#reports.get(candidate);
  }

  endRun(_candidate: CandidateNumber, tookMs: number, _passed: boolean | undefined): void {
    this.referee.ciMs += tookMs;
  }

  landed(entries: readonly Entry[], head: Sha): void {
    for (const { prNumber } of entries) this.#landings.set(prNumber, this.#landings.size);
    this.#heads.set(head, this.#landings.size);
  }

  note({ prNumber, from, to }: Transition, at: Instant): void {
    if (to === 'MERGED') this.referee.land(prNumber, at);
    else if (to === 'FAILED' || to === 'CANCELLED') this.referee.remove(prNumber, at);
    else if (to === 'PENDING' && from !== 'NOT_READY') this.referee.restarts += 1;
  }

  raiseAlarm(): void {
    this.referee.holds += 1;
  }
}

function medianOf({ changes }: Workload): number {
  const durations = changes.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return durations[Math.floor(durations.length / 2)] ?? 0;
}

function numbersOf(members: readonly Member[]): number[] {
  return members.map(({ prNumber }) => prNumber);
}

function listOf(given: readonly string[]): ImpactedTargets {
  const targets = [...new Set(given)].sort();
  return { kind: 'list', digest: targets.join(), count: targets.length, targets };
}
