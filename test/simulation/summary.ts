import { MUST_OCCUR } from './coverage.ts';
import type { RunReport } from './simulate.ts';

interface Sight {
  times: number;
  seeds: number;
}

/** The totals of many runs. */
export class Summary {
  runs = 0;
  tasks = 0;
  events = 0;
  readonly failed: RunReport[] = [];
  readonly #sights = new Map<string, Sight>();
  readonly #startedAt = performance.now();
  readonly #mustOccur: readonly string[];

  constructor(mustOccur: readonly string[] = MUST_OCCUR) {
    this.#mustOccur = mustOccur;
  }

  add(report: RunReport): void {
    this.runs += 1;
    this.tasks += report.tasks;
    this.events += report.events;
    if (report.failure !== undefined) this.failed.push(report);
    for (const [what, times] of Object.entries(report.coverage)) {
      const sight = this.#sights.get(what) ?? { times: 0, seeds: 0 };
      this.#sights.set(what, { times: sight.times + times, seeds: sight.seeds + 1 });
    }
  }

  /** Things worth a test that occurred in no run. */
  get missing(): readonly string[] {
    return this.#mustOccur.filter((what) => !this.#sights.has(what));
  }

  hasSeen(what: string): boolean {
    return this.#sights.has(what);
  }

  get speed(): string {
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const each = (count: number) => (count / seconds).toFixed(count / seconds < 100 ? 1 : 0);
    const speeds = `${each(this.runs)} seeds/s, ${each(this.tasks)} tasks/s, ${each(this.events)} stored events/s`;
    return `${this.runs} seeds in ${seconds.toFixed(1)} s: ${speeds}`;
  }

  get table(): string {
    const rows = [...this.#sights].sort(([a], [b]) => (a < b ? -1 : 1));
    const width = Math.max(0, ...rows.map(([what]) => what.length));
    const lines = rows.map(
      ([what, { times, seeds }]) =>
        `${what.padEnd(width)} ${String(times).padStart(9)} times in ${String(seeds).padStart(6)} seeds`,
    );
    return [...lines, ...this.missing.map((what) => `${what.padEnd(width)}     never`)].join('\n');
  }
}

/** Everything needed to debug a failed seed, and the command to run it again. */
export function describeFailure({ seed, forge, failure, lastEvents, conditions }: RunReport): string {
  const { settings, rates: _rates, ...others } = conditions;
  const { stacks } = conditions;
  const options = stacks === undefined ? '' : ` --stack-rate ${stacks.rate} --stack-depth ${stacks.depth}`;
  return [
    ...lastEvents.map((line) => `  ${line.slice(0, 400)}`),
    `  settings: ${JSON.stringify(settings)}`,
    `  conditions: ${JSON.stringify(others)}`,
    `seed ${seed}: ${failure}`,
    `again: npm run simulate --${forge === undefined ? '' : ` --forge ${forge}`} --seed ${seed}${options}`,
  ].join('\n');
}
