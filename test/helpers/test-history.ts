import type { Monitor } from '../../src/flaky/core/monitor.ts';
import { outcomeOf } from '../../src/flaky/core/retry.ts';
import {
  type Conclusion,
  type EarlierOutcome,
  isSameCode,
  type ObservedRun,
  type UploadFacts,
} from '../../src/flaky/core/run.ts';
import type { TestState } from '../../src/flaky/core/state.ts';
import { type Observed, observe, scopeOf } from '../../src/flaky/observe.ts';
import { parseMonitor } from '../../src/flaky/parse-monitor.ts';
import type { PastRuns } from '../../src/flaky/replay.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const START = Date.UTC(2026, 5, 1);

/** A monitor from its wire format. The id is its type unless given. */
export function aMonitor(input: Readonly<Record<string, unknown>>, id = String(input['type'])): Monitor {
  const action = { classify: 'FLAKY' };
  const parsed = parseMonitor({ action, ...input }, { id, createdAt: START });
  if (parsed.kind === 'refused') throw new Error(JSON.stringify(parsed.problems));
  return parsed.monitor;
}

export function anUpload(facts: Partial<UploadFacts> & { readonly id: string }): UploadFacts {
  const place = { branch: 'main', isTestBranch: false, sha: 'c1', tree: null, candidateId: null };
  return { ...place, job: 'unit', jobAttempt: null, prNumber: null, flaw: null, ...facts };
}

export function aRun(conclusion: Conclusion, startedAt: number, facts: Partial<ObservedRun> = {}): ObservedRun {
  return { conclusion, startedAt, durationMs: 10, attempt: null, rerunOf: null, ...facts };
}

export interface Told {
  readonly upload: UploadFacts;
  readonly runs: readonly ObservedRun[];
}

/** One test, and a store that answers with the results of other uploads of a job and a commit or tree. */
export class FlakyWorld {
  readonly monitors: readonly Monitor[];
  readonly told: Told[] = [];
  readonly past: PastRuns[] = [];
  state: TestState | undefined;

  constructor(monitors: readonly Monitor[]) {
    this.monitors = monitors;
  }

  tell(told: Told, at: number): Observed {
    const observed = observe(
      this.state,
      told.runs,
      scopeOf(told.upload, this.monitors, at),
      this.#earlier(told.upload),
    );
    this.told.push(told);
    this.past.push({ ...told, at });
    this.state = observed.state;
    return observed;
  }

  #earlier(upload: UploadFacts): readonly EarlierOutcome[] {
    return this.told.flatMap((other) => earlierOutcome(other, upload));
  }
}

function earlierOutcome({ upload, runs }: Told, asking: UploadFacts): readonly EarlierOutcome[] {
  const { id: uploadId, sha, tree, candidateId, branch, prNumber, jobAttempt, flaw } = upload;
  const ran = runs.filter((run) => run.conclusion !== 'SKIPPED');
  if (flaw !== null || ran.length === 0 || !isSameCode(upload, asking)) return [];
  return [{ uploadId, sha, tree, candidateId, branch, prNumber, jobAttempt, ...outcomeOf(ran) }];
}
