import type { Candidate, Member } from '../../src/engine/model/candidate.ts';
import type { Entry, Queue } from '../../src/engine/model/queue.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { valuesOf } from '../../src/lib/int-map.ts';
import type { EffectSettlement, QueueCommit } from '../../src/storage/queues.ts';
import type { Store } from '../../src/storage/store.ts';
import { type Chapter, Chronicle } from './chronicle.ts';
import { Coverage } from './coverage.ts';
import { findUnexplained, IN_ORDER, NAMED_BESIDE } from './invariants.ts';
import { Neighbours, Turns } from './order.ts';
import { QUEUE_ID } from './prepare-store.ts';

export interface WitnessOptions {
  readonly created: Queue;
  readonly now: () => Instant;
  readonly onChapter: (chapter: Chapter) => void;
  /** How many of the latest events are kept for the report. */
  readonly keptEvents?: number;
}

/** Watches what the servers of a run store, on any forge, and keeps the first failure. */
export class Witness {
  readonly coverage = new Coverage();
  readonly chronicle: Chronicle;
  failure: string | undefined;
  readonly #now: () => Instant;
  readonly #turns = new Turns();
  readonly #neighbours = new Neighbours();
  #scene: readonly string[] = [];

  constructor({ onChapter, ...options }: WitnessOptions) {
    this.#now = options.now;
    this.chronicle = new Chronicle({
      queueId: QUEUE_ID,
      ...options,
      onChapter: (chapter) => {
        onChapter(chapter);
        this.fail(IN_ORDER, this.#turns.findOvertaken(chapter));
        this.fail(NAMED_BESIDE, this.#neighbours.findForgotten(chapter));
      },
      onTransitions: (rows) => this.fail('9 every removal has a reason', findUnexplained(rows)),
      onBreach: (invariant, text) => this.fail(invariant, text),
    });
  }

  /** The store as the servers see it. The chronicle learns of a commit before its caller does. */
  watch(store: Store): Store {
    const commit: Store['queues']['commit'] = async (row) => {
      const answer = await store.queues.commit(row);
      if (answer === 'committed') this.chronicle.take(row);
      else this.coverage.note('stale commit');
      return answer;
    };
    const commitInTurn: Store['queues']['commitInTurn'] = async (queueId, version, decide) => {
      let made: QueueCommit | undefined;
      const answer = await store.queues.commitInTurn(queueId, version, (changed) => {
        made = decide(changed);
        return made;
      });
      if (made !== undefined) this.chronicle.take(made);
      this.coverage.note('commit in turn');
      return answer;
    };
    const settle: Store['effects']['settle'] = async (key, holder, settlement) => {
      const answer = await store.effects.settle(key, holder, settlement);
      const isEnd = answer === 'settled' && settlement.kind !== 'postpone';
      if (isEnd) this.chronicle.note(`-- effect ${key.id}: ${describeSettlement(settlement)}`);
      return answer;
    };
    return { ...store, queues: { ...store.queues, commit, commitInTurn }, effects: { ...store.effects, settle } };
  }

  fail(invariant: string, text: string | undefined): void {
    if (text === undefined || this.failure !== undefined) return;
    const at = new Date(this.#now()).toISOString().slice(11, 23);
    this.failure = `${invariant}: ${text} (at ${at}, event ${this.chronicle.version})`;
    this.chronicle.conclude();
    this.#scene = describeQueue(this.chronicle.queue);
  }

  readonly noteBug = (error: unknown): void => {
    this.fail('a bug', error instanceof Error ? (error.stack ?? error.message) : String(error));
  };

  /** The part of the report that every run has. */
  report(counts: Readonly<Record<string, number>>) {
    const coverage = new Coverage();
    coverage.addAll(this.coverage.toRecord());
    coverage.addAll(counts);
    return {
      failure: this.failure,
      lastEvents: this.failure === undefined ? [] : [...this.chronicle.lastEvents, ...this.#scene],
      events: this.chronicle.events,
      coverage: coverage.toRecord(),
    };
  }
}

function describeSettlement(settlement: EffectSettlement): string {
  return 'error' in settlement ? `${settlement.kind}, ${settlement.error}` : settlement.kind;
}

/** The queue in a few lines, for debugging a failed seed. */
function describeQueue(queue: Queue): string[] {
  const { settings, state, landing, head } = queue;
  return [
    `queue: ${settings.mode} ${state}, target ${head?.sha.slice(0, 10)} (${head?.ordinal})`,
    ...(queue.hold === undefined ? [] : [`the queue holds: ${JSON.stringify(queue.hold.cause)}`]),
    ...(landing === undefined ? [] : [`landing candidate ${landing.candidate}`]),
    ...[...valuesOf(queue.entries)].map(describeEntry),
    ...[...valuesOf(queue.candidates)].sort((a, b) => a.place - b.place).map(describeCandidate),
  ];
}

function describeEntry(entry: Entry): string {
  const { prNumber, state, submission, priority, targets, place } = entry;
  const on = targets?.kind === 'list' ? `[${targets.targets.join()}]` : `[${targets?.kind ?? 'unknown'}]`;
  const { kind: _kind, ...where } = place;
  const facts = { ...where, admission: entry.admission?.ordinal };
  const known = Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
  return `  #${prNumber}${on} ${state} (submission ${submission}, priority ${priority.value}) ${known.join(', ')}`;
}

function describeCandidate(candidate: Candidate): string {
  const { number, place, purpose, state, base, beneath, members, sameTreeAs, pass, composedWith } = candidate;
  const list = (of: readonly Member[]) => of.map(({ prNumber }) => `#${prNumber}`).join(' ');
  const proof = pass === undefined ? '' : ` by ${pass.by} of ${pass.provenBy}`;
  const beside = composedWith === undefined || composedWith.length === 0 ? '' : ` beside #${composedWith.join(' #')}`;
  const waits = sameTreeAs === undefined ? '' : ` twin of ${sameTreeAs}`;
  const what = `(${list(beneath)}) + ${list(members)}${beside}`;
  return `  candidate ${number} at ${place}, ${purpose.kind}: ${base.ordinal} + ${what}: ${state}${proof}${waits}`;
}
