import { EventClock } from './event-clock.ts';
import { type Outcome, Referee } from './referee.ts';
import type { Change, Workload } from './workload.ts';

export interface WindowSize {
  readonly start: number;
  readonly floor: number;
}

interface Item {
  readonly change: Change;
  run: Run | undefined;
}

interface Run {
  readonly number: number;
  /** The last run ahead that had not failed. This run is built on it. */
  readonly parent: Run | undefined;
  readonly startedAt: number;
  state: 'running' | 'passed' | 'failed';
  hasLanded: boolean;
  cancel: () => void;
}

/**
 * One line, like Zuul's dependent pipeline. Each of the first `window` changes is tested as if all changes ahead will
 * pass. When one fails, those behind start again without it at once. The failed one is removed when nothing is ahead of
 * it any more. The window grows by one with each landing and is halved by each removal.
 */
export function runOptimisticWindow(workload: Workload, size: WindowSize, onDecided?: () => void): Outcome {
  return new WindowLine(workload, size, onDecided).run();
}

class WindowLine {
  readonly #workload: Workload;
  readonly #referee: Referee;
  readonly #clock: EventClock;
  readonly #floor: number;
  readonly #items: Item[] = [];
  #window: number;

  constructor(workload: Workload, size: WindowSize, onDecided?: () => void) {
    this.#workload = workload;
    this.#referee = new Referee(workload, onDecided);
    this.#clock = new EventClock(workload.changes[0]?.submittedAt ?? 0);
    this.#floor = size.floor;
    this.#window = Math.max(size.start, size.floor);
  }

  run(): Outcome {
    for (const change of this.#workload.changes) {
      this.#clock.at(change.submittedAt, () => {
        this.#items.push({ change, run: undefined });
        this.#settle();
      });
    }
    while (this.#clock.advance());
    return this.#referee;
  }

  /** Decides everything possible before it starts runs, because a removal makes the window smaller. */
  #settle(): void {
    do {
      while (this.#decideFirst());
      this.#startRuns();
    } while (this.#canDecideFirst());
  }

  /** Also cancels outdated runs behind the window. They start again when the window reaches them. */
  #startRuns(): void {
    let ahead: Run | undefined;
    for (const [index, item] of this.#items.entries()) {
      if (index >= this.#window && item.run === undefined) return;
      if (item.run !== undefined && !isCurrent(item.run, ahead)) this.#cutOff(item);
      if (index < this.#window) item.run ??= this.#start(item, ahead);
      if (item.run?.state !== 'failed') ahead = item.run;
    }
  }

  #start({ change }: Item, parent: Run | undefined): Run {
    const { number } = change;
    const now = this.#clock.now;
    const run: Run = { number, parent, startedAt: now, state: 'running', hasLanded: false, cancel: () => {} };
    const beneath = numbersBeneath(run);
    const isInBase = (other: number) => this.#referee.landedAt.has(other);
    if (this.#referee.findConflict(number, { beneath, isInBase }) !== undefined) {
      run.state = 'failed';
      return run;
    }
    const passes = this.#referee.beginRun({ members: [number], beneath, isInBase });
    run.cancel = this.#clock.after(change.durationMs + this.#workload.chance.gitMs, () => {
      run.state = passes ? 'passed' : 'failed';
      this.#referee.ciMs += change.durationMs;
      this.#settle();
    });
    return run;
  }

  #cutOff(item: Item): void {
    const { run } = item;
    item.run = undefined;
    this.#referee.restarts += 1;
    if (run?.state !== 'running') return;
    run.cancel();
    this.#referee.ciMs += this.#clock.now - run.startedAt;
  }

  #canDecideFirst(): boolean {
    const run = this.#items[0]?.run;
    return run !== undefined && run.state !== 'running' && isCurrent(run, undefined);
  }

  #decideFirst(): boolean {
    const run = this.#items[0]?.run;
    if (run === undefined || !this.#canDecideFirst()) return false;
    this.#items.shift();
    if (run.state === 'passed') {
      run.hasLanded = true;
      this.#window += 1;
      this.#referee.land(run.number, this.#clock.now + this.#workload.chance.gitMs);
    } else {
      this.#window = Math.max(this.#floor, Math.floor(this.#window / 2));
      this.#referee.remove(run.number, this.#clock.now);
    }
    return true;
  }
}

/** The run it was built on is still the one ahead, or has landed. */
function isCurrent({ parent }: Run, ahead: Run | undefined): boolean {
  return parent === ahead || (ahead === undefined && parent?.hasLanded === true);
}

function numbersBeneath(run: Run): number[] {
  const numbers: number[] = [];
  for (let other = run.parent; other !== undefined && !other.hasLanded; other = other.parent)
    numbers.push(other.number);
  return numbers;
}

/** Knows every outcome: runs each change that can land once, all at the same time. No queue that waits is faster. */
export function runOracle(workload: Workload): Outcome {
  const referee = new Referee(workload);
  const isInBase = (number: number) => referee.landedAt.has(number);
  for (const { number, submittedAt, durationMs } of workload.changes) {
    const tested = { members: [number], beneath: [], isInBase };
    if (referee.findConflict(number, tested) !== undefined || !referee.isSound(tested)) {
      referee.remove(number, submittedAt);
      continue;
    }
    referee.runs += 1;
    referee.ciMs += durationMs;
    referee.land(number, submittedAt + durationMs + 2 * workload.chance.gitMs);
  }
  return referee;
}

/** One change at a time, in order of submission, tested on the head. */
export function runSerial(workload: Workload): Outcome {
  const referee = new Referee(workload);
  const { gitMs } = workload.chance;
  const isInBase = (number: number) => referee.landedAt.has(number);
  let now = 0;
  for (const { number, submittedAt, durationMs } of workload.changes) {
    const tested = { members: [number], beneath: [], isInBase };
    now = Math.max(now, submittedAt) + gitMs;
    if (referee.findConflict(number, tested) !== undefined) {
      referee.remove(number, now);
      continue;
    }
    const passes = referee.beginRun(tested);
    referee.ciMs += durationMs;
    now += durationMs;
    if (!passes) referee.remove(number, now);
    else {
      now += gitMs;
      referee.land(number, now);
    }
  }
  return referee;
}
