import type { Candidate, CandidateNumber } from '../../src/engine/model/candidate.ts';
import { compositionOf } from '../../src/engine/model/candidate.ts';
import type { Effect } from '../../src/engine/model/effect.ts';
import type { QueueEvent } from '../../src/engine/model/event.ts';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import { createQueue, type EntryId, findCandidate, findLiveMember, type Queue } from '../../src/engine/model/queue.ts';
import { composedWithOf } from '../../src/engine/model/roster.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../src/engine/model/settings.ts';
import type { ImpactedTargets } from '../../src/engine/model/targets.ts';
import { type Step, step } from '../../src/engine/step.ts';
import { Prng } from '../../src/lib/prng.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { aPullRequest } from '../../test/helpers/a-pull-request.ts';

const TARGETS_AN_ENTRY = 20;

/**
 * A queue of constant length: every entry that lands, fails or is cancelled is replaced by a new one. Git answers, CI
 * runs two checks and most pass. Some pull requests are polled, pushed to and cancelled.
 */
export class QueueLoad {
  readonly size: number;
  /** Microseconds of each step. */
  readonly times: number[] = [];
  /** Sees every step. */
  onStep: (event: QueueEvent, result: Step) => void = () => {};
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
  }

  get queue(): Queue {
    return this.#queue;
  }

  fill(): this {
    this.#tell({ kind: 'target_observed', at: this.#now, head: 'head0' as Sha, since: 0, isDescendant: true });
    while (this.#queue.entries.size < this.size) this.#submit();
    return this;
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
    this.onStep(event, result);
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
