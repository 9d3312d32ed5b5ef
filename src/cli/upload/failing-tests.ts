import type { TestIds, TestNames } from '../../flaky/identity/test-id.ts';
import type { JunitCase } from '../../junit/junit-case.ts';

/** A test that failed in the end. */
export interface FailingTest {
  readonly id: string;
  readonly names: TestNames;
  /** Of its last failure; 0 where the reports do not say. */
  readonly failedAt: number;
  readonly message: string;
}

export interface Outcome {
  /** Distinct tests that passed or failed. */
  readonly tests: number;
  readonly skipped: number;
  /** In the order in which they were met. */
  readonly failing: readonly FailingTest[];
}

export interface OutcomeReader {
  add(testCase: JunitCase): void;
  end(): Outcome;
}

/**
 * Which tests count as failing over all files of an upload: a pass that is later than the last failure takes it back. Equal
 * times, and none, take nothing back: which of the two came last is not known then.
 */
export function createOutcomeReader(testIds: TestIds): OutcomeReader {
  /** When each last passed, where it did: reports have many of these. */
  const passes = new Map<string, number>();
  const failures = new Map<string, FailingTest>();
  let skipped = 0;
  return {
    add(testCase) {
      if (testCase.status === 'skipped') {
        skipped += 1;
        return;
      }
      const names = namesOf(testCase);
      const id = testIds(names);
      const at = timeOf(testCase);
      const failedAt = failures.get(id)?.failedAt;
      if (testCase.status === 'success') passes.set(id, Math.max(passes.get(id) ?? at, at));
      else if (failedAt === undefined || at > failedAt) {
        failures.set(id, { id, names: copyNames(names), failedAt: at, message: copy(messageOf(testCase)) });
      }
    },
    end() {
      const all = [...failures.values()];
      const alone = all.filter(({ id }) => !passes.has(id)).length;
      const failing = all.filter(({ id, failedAt }) => (passes.get(id) ?? failedAt) <= failedAt);
      return { tests: passes.size + alone, skipped, failing };
    },
  };
}

function namesOf({ file, classname, suite, name, id }: JunitCase): TestNames {
  return { file: file ?? '', classname: classname ?? '', parent: suite, name, infoId: id ?? '' };
}

/** What the parser gives are slices that would keep the whole block of the report they come from. */
function copy(text: string): string {
  return Buffer.from(text).toString();
}

function copyNames({ file, classname, parent, name, infoId }: TestNames): TestNames {
  return {
    file: copy(file),
    classname: copy(classname),
    parent: copy(parent),
    name: copy(name),
    infoId: copy(infoId),
  };
}

/** The time of a whole report says nothing about the order of two of its cases. */
function timeOf({ timestampAt, timestampFrom }: JunitCase): number {
  return timestampAt === null || timestampFrom === 'report' ? 0 : timestampAt;
}

function messageOf({ outcome }: JunitCase): string {
  const [line = ''] = (outcome?.message || outcome?.text || '').trim().split('\n', 1);
  return line.slice(0, 500).toWellFormed();
}
