import type { QueueEvent } from '../../engine/model/event.ts';
import type { ImpactedTargets } from '../../engine/model/targets.ts';
import type { Instant } from '../../lib/clock.ts';
import { type Outcome, Referee } from '../../policy/referee.ts';
import { type Change, PLAIN_CHANGE } from '../../policy/workload.ts';
import type { QueueId, TransitionRow } from '../../storage/queues.ts';
import type { Store } from '../../storage/store.ts';
import { decodeEvent, decodeTransition, indexTargetSets, type TargetSets } from '../core/queue-codec.ts';

export interface QueueHistory {
  readonly changes: readonly Change[];
  /** By the number of the change: the barrier by which it impacted everything. */
  readonly barriers: ReadonlyMap<number, string>;
  /** Stays that were cancelled, merged by hand, refused, or that go on. */
  readonly leftOut: number;
  readonly asItWas: Outcome;
}

interface QueueVersion {
  readonly id: QueueId;
  readonly version: number;
}

const PAGE = 1000;

/** Undefined if no test run came to an end in that time. */
export async function readQueueHistory(
  store: Store,
  queue: QueueVersion,
  { from, until }: { readonly from: Instant; readonly until: Instant },
): Promise<QueueHistory | undefined> {
  const rows = await store.queueRecords.listTransitionsWithin({ queueIds: [queue.id], from, until });
  const cycles = cyclesOf(rows);
  return toHistory(cycles, await readFacts(store, queue, cycles));
}

interface SaidTargets {
  readonly version: number;
  readonly digest?: string;
  readonly barrier?: string;
}

/** Facts that are in events and not in transitions. */
interface Facts {
  /** By the version of the submission. */
  readonly heads: ReadonlyMap<number, string>;
  /** By pull request, in order of versions. */
  readonly targets: ReadonlyMap<number, readonly SaidTargets[]>;
  readonly sets: TargetSets;
}

/** Lists of targets are looked up once each, after all events are read. */
class LaterSets extends Map<string, readonly string[]> {
  override get(): readonly string[] {
    return [];
  }
}

async function readFacts(store: Store, queue: QueueVersion, cycles: readonly Cycle[]): Promise<Facts> {
  const heads = new Map<number, string>();
  const targets = new Map<number, SaidTargets[]>();
  let version = (cycles[0]?.version ?? queue.version + 1) - 1;
  while (version < queue.version) {
    const rows = await store.queueRecords.listEvents(queue.id, version, PAGE);
    for (const row of rows) noteEvent(decodeEvent(row, new LaterSets()), row.version, heads, targets);
    version = rows.at(-1)?.version ?? queue.version;
  }
  const digests = new Set([...targets.values()].flat().flatMap(({ digest }) => digest ?? []));
  const sets = await Promise.all([...digests].map((digest) => store.queues.findTargetSet(digest)));
  return { heads, targets, sets: indexTargetSets(sets.filter((set) => set !== undefined)) };
}

function noteEvent(
  event: QueueEvent,
  version: number,
  heads: Map<number, string>,
  targets: Map<number, SaidTargets[]>,
): void {
  if (event.kind === 'pull_request_submitted') heads.set(version, event.pr.headSha);
  if (!('targets' in event) || event.targets === undefined) return;
  const prNumber = event.kind === 'pull_request_submitted' ? event.pr.number : event.prNumber;
  targets.set(prNumber, [...(targets.get(prNumber) ?? []), { version, ...saidOf(event.targets) }]);
}

function saidOf(targets: ImpactedTargets): Omit<SaidTargets, 'version'> {
  if (targets.kind === 'list') return { digest: targets.digest };
  return targets.by?.code === 'BARRIER' ? { barrier: targets.by.name } : {};
}

function toHistory(cycles: readonly Cycle[], facts: Facts): QueueHistory | undefined {
  const told = cycles.filter(isQueueOutcome);
  const kept = withoutRepeats(told, facts).sort((a, b) => a.cycle.arrivedAt - b.cycle.arrivedAt);
  const medianMs = medianOf(kept.flatMap(({ cycle }) => cycle.testingMs ?? []));
  if (medianMs === undefined) return undefined;
  const changes = kept.map((each, index) => toChange(each, index + 1, medianMs, facts));
  const barriers = new Map(
    kept.flatMap(({ cycle }, index) => {
      const barrier = targetsSaid(cycle, facts)?.barrier;
      return barrier === undefined ? [] : [[index + 1, barrier] as const];
    }),
  );
  return { changes, barriers, leftOut: cycles.length - told.length, asItWas: outcomeOf(kept, changes) };
}

/** Landed by the queue, or removed for its contents. */
function isQueueOutcome({ end }: Cycle): boolean {
  if (end?.state === 'MERGED') return end.reason !== 'MANUAL_MERGE';
  return end?.state === 'FAILED' && /^TEST_RUN_|^START_TEST_RUN_MERGE_CONFLICT$/.test(end.reason);
}

interface Kept {
  readonly cycle: Cycle;
  /** It failed, and the same commit was submitted again and landed, so the failure was a flake. */
  readonly isFlake: boolean;
}

function withoutRepeats(cycles: readonly Cycle[], { heads }: Facts): Kept[] {
  const groups = Map.groupBy(cycles, ({ prNumber, version }) => `${prNumber}@${heads.get(version) ?? version}`);
  return [...groups.values()].flatMap((group): Kept[] => {
    const [first] = group;
    const isFlake = first?.end?.state === 'FAILED' && group.at(-1)?.end?.state === 'MERGED';
    if (first === undefined || !isFlake) return group.map((cycle) => ({ cycle, isFlake: false }));
    return [{ cycle: first, isFlake }];
  });
}

function toChange({ cycle, isFlake }: Kept, number: number, medianMs: number, facts: Facts): Change {
  const { end, arrivedAt, testingMs = medianMs } = cycle;
  const isUnmergeable = end?.reason === 'START_TEST_RUN_MERGE_CONFLICT';
  const isBroken = end?.state === 'FAILED' && !isUnmergeable && !isFlake;
  const targets = targetsOf(cycle, facts);
  return {
    ...PLAIN_CHANGE,
    ...{ number, submittedAt: arrivedAt, durationMs: testingMs },
    ...{ isBroken, isUnmergeable: isUnmergeable && !isFlake, targets },
  };
}

function targetsOf(cycle: Cycle, facts: Facts): readonly string[] | undefined {
  const digest = targetsSaid(cycle, facts)?.digest;
  return digest === undefined ? undefined : facts.sets.get(digest);
}

function targetsSaid({ prNumber, version, admittedVersion = version }: Cycle, facts: Facts): SaidTargets | undefined {
  return facts.targets.get(prNumber)?.findLast((said) => said.version <= admittedVersion);
}

function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function outcomeOf(kept: readonly Kept[], changes: readonly Change[]): Outcome {
  const outcome = new Referee({ source: '', changes, chance: { seed: '', flakeRate: 0, gitMs: 0 } });
  const runs = new Set<string>();
  for (const [index, { cycle }] of kept.entries()) {
    if (cycle.end?.state === 'MERGED') outcome.land(index + 1, cycle.end.at);
    else outcome.remove(index + 1, cycle.end?.at ?? cycle.arrivedAt);
    outcome.restarts += cycle.restarts;
    for (const run of cycle.runs) runs.add(run);
  }
  outcome.runs = runs.size;
  return outcome;
}

/** One stay of a pull request in the queue, read from stored transitions. */
interface Cycle {
  readonly prNumber: number;
  /** The event that began it. */
  readonly version: number;
  /** Ready and admitted. From here on the queue makes it wait. */
  arrivedAt: Instant;
  admittedVersion: number | undefined;
  /** The duration of its last completed run. */
  testingMs: number | undefined;
  end: { readonly state: string; readonly reason: string; readonly at: Instant } | undefined;
  restarts: number;
  readonly runs: Set<string>;
  /** When its present run began. */
  started: { readonly at: Instant; readonly run: string | undefined } | undefined;
}

const ENDED: ReadonlySet<string> = new Set(['MERGED', 'FAILED', 'CANCELLED']);
const RESULTS: ReadonlySet<string> = new Set(['TEST_RUN_PASSED', 'TEST_RUN_REQUIRED_STATUS_FAILED']);

/** Expects transitions oldest first. Stays that began before the first one are left out. */
function cyclesOf(rows: readonly TransitionRow[]): Cycle[] {
  const cycles: Cycle[] = [];
  const open = new Map<string, Cycle>();
  for (const row of rows) {
    if (row.from === null) {
      const { prNumber, version, at: arrivedAt } = row;
      const unknown = { admittedVersion: undefined, testingMs: undefined, end: undefined, started: undefined };
      const cycle: Cycle = { prNumber, version, arrivedAt, ...unknown, restarts: 0, runs: new Set() };
      cycles.push(cycle);
      open.set(row.entryId, cycle);
      continue;
    }
    const cycle = open.get(row.entryId);
    if (cycle === undefined) continue;
    follow(cycle, row);
    if (cycle.end !== undefined) open.delete(row.entryId);
  }
  return cycles;
}

function follow(cycle: Cycle, row: TransitionRow): void {
  const { from, to, at, version } = row;
  const { reason, testRunId } = decodeTransition(row);
  if (to === 'PENDING' && from === 'NOT_READY') {
    cycle.arrivedAt = at;
    cycle.admittedVersion = version;
  } else if (to === 'PENDING') cycle.restarts += 1;
  if (to === 'TESTING') {
    cycle.started = { at, run: testRunId };
    if (testRunId !== undefined) cycle.runs.add(testRunId);
  } else if (cycle.started !== undefined && RESULTS.has(reason) && testRunId === cycle.started.run) {
    // A pass taken over from another run or from a successor says nothing about the duration of CI.
    cycle.testingMs = Math.max(0, at - cycle.started.at);
    cycle.started = undefined;
  }
  if (ENDED.has(to)) cycle.end = { state: to, reason, at };
}
