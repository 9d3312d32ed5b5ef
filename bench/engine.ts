import type { Candidate, CandidateNumber } from '../src/engine/candidate.ts';
import { compositionOf } from '../src/engine/candidate.ts';
import type { Effect } from '../src/engine/effect.ts';
import type { QueueEvent } from '../src/engine/event.ts';
import type { PrNumber } from '../src/engine/pull-request.ts';
import { createQueue, type EntryId, findCandidate, findLiveMember, type Queue } from '../src/engine/queue.ts';
import { composedWithOf } from '../src/engine/roster.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../src/engine/settings.ts';
import { step } from '../src/engine/step.ts';
import type { ImpactedTargets } from '../src/engine/targets.ts';
import { Prng } from '../src/lib/prng.ts';
import type { Sha } from '../src/lib/sha.ts';
import { aPullRequest } from '../test/helpers/a-pull-request.ts';
import { printFigure } from './lib/figure.ts';
import { measureSimulation } from './lib/simulation.ts';

const SIZES = [100, 1_000, 10_000];
const TARGETS_AN_ENTRY = 20;
/** With the largest cost of a step in the longest queue, relative to the shortest. */
const VARIANTS: Readonly<Record<string, { readonly settings: Partial<QueueSettings>; readonly goal: number }>> = {
  single: { settings: {}, goal: 3 },
  parallel: { settings: { mode: 'PARALLEL' }, goal: 3 },
  adaptive: { settings: { optimizationMode: 'ADAPTIVE' }, goal: 2 },
  parallel_adaptive: { settings: { mode: 'PARALLEL', optimizationMode: 'ADAPTIVE' }, goal: 2 },
};
const ROUNDS = 5;
const STEPS_A_ROUND = 4_000;

/** The cost of a step by the number of live entries, and the speed of the simulator. */
export async function run(): Promise<void> {
  for (const name of Object.keys(VARIANTS)) measureVariant(name);
  await measureSimulation();
}

/** Sizes take turns, so that other load on the machine affects all of them. */
function measureVariant(variant: string): void {
  const { settings = {}, goal = 0 } = VARIANTS[variant] ?? {};
  const loads = SIZES.map((size) => new Load(variant, size, settings));
  for (const load of loads) load.measure(STEPS_A_ROUND);
  for (const load of loads) load.times.length = 0;
  for (let round = 0; round < ROUNDS; round += 1) for (const load of loads) load.measure(STEPS_A_ROUND);
  const [first] = loads;
  const baseline = first?.mean() ?? 0;
  for (const load of loads) {
    const name = `engine.${variant}.${load.size}`;
    const mean = load.mean();
    printFigure({ name: `${name}.step`, value: mean, unit: 'µs', baseline, goal });
    printFigure({ name: `${name}.steps_per_second`, value: 1_000_000 / mean, unit: '1/s' });
    printFigure({ name: `${name}.step_p99.9`, value: load.quantile(0.999) / 1_000, unit: 'ms', goal: 50 });
  }
}

/**
 * A queue of constant length: every entry that lands, fails or is cancelled is replaced by a new one. Git answers, CI
 * runs two checks and most pass. Some pull requests are polled, pushed to and cancelled.
 */
class Load {
  readonly size: number;
  /** Microseconds of each step. */
  readonly times: number[] = [];
  readonly #random: Prng;
  #queue: Queue;
  #now = Date.UTC(2026, 8, 17);
  #submitted = 0;
  #effects: Effect[] = [];
  #landings = 0;
  /** Candidates that CI was asked to test, oldest first. */
  readonly #asked: CandidateNumber[] = [];

  constructor(variant: string, size: number, changed: Partial<QueueSettings>) {
    this.size = size;
    this.#random = new Prng(`${variant} ${size}`);
    const settings = { ...DEFAULT_SETTINGS, concurrency: 20, requiredStatuses: ['unit', 'lint'], ...changed };
    this.#queue = createQueue('main', settings, 'RUNNING');
    this.#tell({ kind: 'target_observed', at: this.#now, head: 'head0' as Sha, since: 0, isDescendant: true });
    while (this.#queue.entries.size < size) this.#submit();
  }

  measure(steps: number): void {
    const until = this.times.length + steps;
    while (this.times.length < until) this.#next();
  }

  mean(): number {
    return this.times.reduce((sum, time) => sum + time, 0) / this.times.length;
  }

  quantile(q: number): number {
    const sorted = this.times.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
  }

  #next(): void {
    const effect = this.#effects.shift();
    if (effect !== undefined) this.#carryOut(effect);
    else if (this.#queue.entries.size < this.size) this.#submit();
    else if (this.#random.chance(0.02)) this.#cancel();
    else if (this.#random.chance(0.1)) this.#observe();
    else this.#report();
  }

  #tell(event: QueueEvent): void {
    const before = performance.now();
    const result = step(this.#queue, event);
    this.times.push((performance.now() - before) * 1_000);
    if (result.outcome.kind === 'parked') throw new Error(result.outcome.detail);
    this.#queue = result.queue;
    this.#effects.push(...result.effects);
    this.#now += 1_000;
  }

  #submit(): void {
    this.#submitted += 1;
    const number = this.#submitted as PrNumber;
    this.#tell({
      kind: 'pull_request_submitted',
      at: this.#now,
      actor: 'bench',
      entryId: `entry-${number}` as EntryId,
      pr: aPullRequest(number),
      targets: this.#targets(),
      priority: undefined,
      noBatch: undefined,
    });
  }

  /** A few neighbouring targets of a large repository. Some overlap, most do not. */
  #targets(): ImpactedTargets {
    const first = this.#random.integer(5_000);
    const targets = Array.from({ length: TARGETS_AN_ENTRY }, (_, index) => `//project/package-${first + index}`);
    return { kind: 'list', digest: `${first}`, count: targets.length, targets };
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === 'build_candidate') this.#build(effect.candidate);
    else if (effect.kind === 'start_checks') this.#asked.push(effect.candidate);
    else if (effect.kind === 'land_candidate') this.#land(effect.candidate);
  }

  #build(number: CandidateNumber): void {
    const sources = { file: undefined, fileProblem: undefined, protection: undefined, commands: '' };
    const sha = `candidate${number}` as Sha;
    this.#tell({
      kind: 'candidate_built',
      at: this.#now,
      candidate: number,
      sha,
      tree: `tree${number}` as Sha,
      sources,
    });
  }

  #land(number: CandidateNumber): void {
    const candidate = findCandidate(this.#queue, number);
    const { head } = this.#queue;
    if (candidate?.commit === undefined || head === undefined) return;
    this.#landings += 1;
    const isComposed = composedWithOf(this.#queue, candidate).length > 0;
    const pushedTree = isComposed ? (`composed${this.#landings}` as Sha) : candidate.commit.tree;
    const members = compositionOf(candidate).filter((member) => findLiveMember(this.#queue, member) !== undefined);
    const entries = members.map(({ prNumber }) => ({ prNumber, sha: `l${prNumber}` as Sha, tree: pushedTree }));
    this.#tell({
      kind: 'candidate_landed',
      at: this.#now,
      candidate: number,
      how: isComposed ? 'COMPOSED' : 'SAME_TREE',
      base: head.sha,
      pushedSha: `head${this.#landings}` as Sha,
      pushedTree,
      entries,
    });
  }

  #report(): void {
    const candidate = this.#pickCandidate();
    if (candidate === undefined) return this.#observe();
    const name = candidate.checks.length === 0 ? 'unit' : 'lint';
    this.#tell({
      kind: 'check_reported',
      at: this.#now,
      candidate: candidate.number,
      check: {
        name,
        status: 'COMPLETED',
        conclusion: this.#random.chance(0.05) ? 'FAILURE' : 'SUCCESS',
        startedAt: undefined,
        url: undefined,
        summary: undefined,
      },
    });
  }

  /** CI answers in the order in which it was asked. Abandoned candidates are dropped. */
  #pickCandidate(): Candidate | undefined {
    for (;;) {
      const [oldest] = this.#asked;
      const candidate = oldest === undefined ? undefined : findCandidate(this.#queue, oldest);
      if (oldest === undefined || candidate?.state === 'testing') return candidate;
      this.#asked.shift();
    }
  }

  #pickEntry() {
    for (;;) {
      const prNumber = this.#random.between(Math.max(1, this.#submitted - 2 * this.size), this.#submitted) as PrNumber;
      const entry = findLiveMember(this.#queue, { prNumber, headSha: '' as Sha, submission: prNumber });
      if (entry !== undefined) return entry;
    }
  }

  #observe(): void {
    const { prNumber, pr } = this.#pickEntry();
    this.#tell({ kind: 'pull_request_observed', at: this.#now, prNumber, pr: { ...pr }, targets: undefined });
  }

  #cancel(): void {
    const { prNumber } = this.#pickEntry();
    this.#tell({ kind: 'pull_request_cancelled', at: this.#now, actor: 'bench', prNumber });
  }
}
