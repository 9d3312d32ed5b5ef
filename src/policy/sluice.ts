import { type Candidate, type CandidateNumber, compositionOf, type Member } from '../engine/candidate.ts';
import type { Effect } from '../engine/effect.ts';
import type { PullRequestSubmitted, QueueEvent } from '../engine/event.ts';
import type { PrNumber } from '../engine/pull-request.ts';
import { createQueue, type EntryId, findCandidate, findLiveMember, type Queue } from '../engine/queue.ts';
import type { QueueSettings } from '../engine/settings.ts';
import { step } from '../engine/step.ts';
import { ALL_TARGETS, type ImpactedTargets } from '../engine/targets.ts';
import { nextWakeAt } from '../engine/wake.ts';
import type { Transition } from '../engine/work.ts';
import type { Sha } from '../lib/sha.ts';
import { EventClock } from './event-clock.ts';
import { type Outcome, Referee } from './referee.ts';
import { Trees } from './trees.ts';
import { type Change, MINUTE_MS, type Workload } from './workload.ts';

/** An operator resumes the queue this long after an alarm. */
const OPERATOR_MS = 30 * MINUTE_MS;

const SOURCES = { file: undefined, fileProblem: undefined, protection: ['ci'], commands: '' };

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
export function playSluice(
  workload: Workload,
  settings: QueueSettings,
  options: SluiceOptions = {},
): Generator<void, Outcome> {
  return new Shell(workload, settings, options).play();
}

interface RunningChecks {
  readonly startedAt: number;
  readonly cancel: () => void;
}

class Shell {
  readonly #workload: Workload;
  readonly #referee: Referee;
  readonly #clock: EventClock;
  readonly #trees = new Trees();
  readonly #checks = new Map<CandidateNumber, RunningChecks>();
  readonly #landings = new Map<number, number>();
  /** The duration of a test of the head by itself. */
  readonly #medianMs: number;
  #queue: Queue;

  constructor(workload: Workload, settings: QueueSettings, { onDecided, learned }: SluiceOptions) {
    this.#workload = workload;
    this.#referee = new Referee(workload, onDecided);
    this.#clock = new EventClock(workload.changes[0]?.submittedAt ?? 0);
    this.#medianMs = medianOf(workload);
    // The simulation has one check, whatever the names in the settings.
    const requiredStatuses = settings.requiredStatuses?.length === 0 ? [] : null;
    const queue = createQueue('main', { ...settings, requiredStatuses }, 'RUNNING');
    this.#queue = { ...queue, learned: learned ?? queue.learned };
  }

  *play(): Generator<void, Outcome> {
    const { heads } = this.#queue;
    this.#tell({ kind: 'target_observed', at: this.#now, head: this.#trees.head, since: heads, isDescendant: true });
    for (const change of this.#workload.changes) {
      this.#clock.at(change.submittedAt, () => this.#tell(submissionOf(change)));
    }
    while (this.#wake() || this.#clock.advance()) yield;
    return this.#referee;
  }

  get #now(): number {
    return this.#clock.now;
  }

  /** Call it only before the clock advances, because nextWakeAt is expensive. */
  #wake(): boolean {
    const { nextAt } = this.#clock;
    if (nextAt === this.#now) return false;
    const wakeAt = nextWakeAt(withoutBatches(this.#queue), this.#now);
    if (wakeAt === undefined || wakeAt <= this.#now || (nextAt !== undefined && nextAt <= wakeAt)) return false;
    this.#clock.now = wakeAt;
    this.#tell({ kind: 'time_passed', at: wakeAt });
    return true;
  }

  /**
   * nextWakeAt scans all pending entries to find when batches have waited enough. A timer for each admission is
   * cheaper.
   */
  #wakeBatch(): void {
    const { batch, batchingMaxWaitTimeMinutes } = this.#queue.settings;
    if (!batch || batchingMaxWaitTimeMinutes === 0) return;
    const waitsUntil = this.#now + batchingMaxWaitTimeMinutes * MINUTE_MS;
    this.#clock.at(waitsUntil, () => this.#tell({ kind: 'time_passed', at: waitsUntil }));
  }

  #tell(event: QueueEvent): void {
    const { queue, outcome, transitions, effects } = step(this.#queue, event);
    if (outcome.kind === 'parked') throw new Error(`The engine parked the queue at a ${event.kind}: ${outcome.detail}`);
    this.#queue = queue;
    for (const transition of transitions) this.#note(transition);
    for (const effect of effects) this.#carryOut(effect);
  }

  #note({ prNumber, from, to }: Transition): void {
    if (to === 'MERGED') this.#referee.land(prNumber, this.#now);
    else if (to === 'FAILED' || to === 'CANCELLED') this.#referee.remove(prNumber, this.#now);
    else if (to === 'PENDING' && from === 'NOT_READY') this.#wakeBatch();
    else if (to === 'PENDING') this.#referee.restarts += 1;
  }

  #carryOut(effect: Effect): void {
    const { gitMs } = this.#workload.chance;
    switch (effect.kind) {
      case 'build_candidate':
        this.#clock.after(gitMs, () => this.#build(effect.candidate));
        return;
      case 'start_checks':
        return this.#startChecks(effect.candidate);
      case 'land_candidate':
        this.#clock.after(gitMs, () => this.#land(effect.candidate));
        return;
      case 'discard_candidate':
        return this.#cutOff(effect.candidate);
      case 'raise_alarm':
        this.#referee.holds += 1;
        this.#clock.after(OPERATOR_MS, () => this.#letGoOn());
        return;
    }
  }

  #letGoOn(): void {
    this.#tell({ kind: 'queue_updated', at: this.#now, actor: 'operator', settings: {}, state: 'RUNNING' });
  }

  #build(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate?.state !== 'building') return;
    const found = this.#findConflict(candidate);
    if (found !== undefined) {
      this.#tell({ kind: 'candidate_conflicted', at: this.#now, candidate: number, ...found });
      return;
    }
    const tree = this.#trees.treeOn(candidate.base.sha, numbersOf(compositionOf(candidate)));
    const sha = `candidate-${number}` as Sha;
    this.#tell({ kind: 'candidate_built', at: this.#now, candidate: number, sha, tree, sources: SOURCES });
  }

  #findConflict(candidate: Candidate): { prNumber: PrNumber; culprit: PrNumber | undefined } | undefined {
    const composition = numbersOf(compositionOf(candidate));
    const isInBase = this.#isInBaseOf(candidate);
    for (const [index, { prNumber }] of candidate.members.entries()) {
      const beneath = composition.slice(0, candidate.beneath.length + index);
      const rival = this.#referee.findConflict(prNumber, { beneath, isInBase });
      if (rival !== undefined) return { prNumber, culprit: rival === 'target' ? undefined : (rival as PrNumber) };
    }
    return undefined;
  }

  #isInBaseOf({ base }: Candidate): (number: number) => boolean {
    const landed = this.#trees.landedOn(base.sha);
    return (number) => (this.#landings.get(number) ?? Number.POSITIVE_INFINITY) < landed;
  }

  #startChecks(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate === undefined) return;
    const members = numbersOf(candidate.members);
    const tested = { members, beneath: numbersOf(candidate.beneath), isInBase: this.#isInBaseOf(candidate) };
    const passes = this.#referee.beginRun(tested);
    const durationMs = members.length === 0 ? this.#medianMs : this.#referee.durationOf(members);
    const cancel = this.#clock.after(durationMs, () => this.#report(number, passes));
    this.#checks.set(number, { startedAt: this.#now, cancel });
  }

  #report(candidate: CandidateNumber, passes: boolean): void {
    this.#cutOff(candidate);
    const conclusion = passes ? 'SUCCESS' : 'FAILURE';
    const check = {
      name: 'ci',
      status: 'COMPLETED',
      startedAt: undefined,
      url: undefined,
      summary: undefined,
    } as const;
    this.#tell({ kind: 'check_reported', at: this.#now, candidate, check: { ...check, conclusion } });
  }

  #cutOff(number: CandidateNumber): void {
    const run = this.#checks.get(number);
    if (run === undefined) return;
    run.cancel();
    this.#checks.delete(number);
    this.#referee.ciMs += this.#now - run.startedAt;
  }

  #land(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    if (candidate === undefined || this.#queue.landing?.candidate !== number) return;
    const base = this.#trees.head;
    const landing = compositionOf(candidate).filter((member) => findLiveMember(this.#queue, member) !== undefined);
    for (const { prNumber } of landing) this.#landings.set(prNumber, this.#landings.size);
    const pushedTree = this.#trees.land(numbersOf(landing));
    this.#tell({
      kind: 'candidate_landed',
      at: this.#now,
      candidate: number,
      how: pushedTree === candidate.commit?.tree ? 'SAME_TREE' : 'COMPOSED',
      base,
      pushedSha: this.#trees.head,
      pushedTree,
      entries: landing.map(({ prNumber }) => ({ prNumber, sha: `landed-${prNumber}` as Sha, tree: pushedTree })),
    });
  }
}

function withoutBatches(queue: Queue): Queue {
  return queue.settings.batch ? { ...queue, settings: { ...queue.settings, batch: false } } : queue;
}

function medianOf({ changes }: Workload): number {
  const durations = changes.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  return durations[Math.floor(durations.length / 2)] ?? 0;
}

function numbersOf(members: readonly Member[]): number[] {
  return members.map(({ prNumber }) => prNumber);
}

function submissionOf({ number, submittedAt, targets }: Change): PullRequestSubmitted {
  return {
    kind: 'pull_request_submitted',
    at: submittedAt,
    actor: 'author',
    entryId: `entry-${number}` as EntryId,
    pr: {
      number: number as PrNumber,
      headSha: `change-${number}` as Sha,
      baseBranch: 'main',
      title: `Change ${number}`,
      author: '',
      url: '',
      status: 'open',
      mergeability: 'MERGEABLE',
      blockReasons: [],
    },
    targets: targets === undefined ? ALL_TARGETS : listOf(targets),
    priority: undefined,
    noBatch: undefined,
  };
}

function listOf(given: readonly string[]): ImpactedTargets {
  const targets = [...new Set(given)].sort();
  return { kind: 'list', digest: targets.join(), count: targets.length, targets };
}
