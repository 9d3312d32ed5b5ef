import type { TestIds, TestNames } from '../../flaky/identity/test-id.ts';
import type { JunitCase } from '../../junit/junit-case.ts';
import { failsInTheEnd, NO_TRIES, noteTry, type Tries } from '../../junit/tries.ts';

/** A test that failed in the end. */
export interface FailingTest {
  readonly id: string;
  readonly names: TestNames;
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

/** Which tests count as failing over all files of an upload, by the rule that the server judges checks by. */
export function createOutcomeReader(testIds: TestIds): OutcomeReader {
  const tries = new Map<string, Tries>();
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
      const hasFailed = testCase.status === 'failure';
      const attempt = testCase.attempt?.value ?? null;
      tries.set(id, noteTry(tries.get(id) ?? NO_TRIES, { hasFailed, attempt }));
      if (hasFailed) failures.set(id, { id, names: copyNames(names), message: copy(messageOf(testCase)) });
    },
    end() {
      const failing = [...failures.values()].filter(({ id }) => failsInTheEnd(tries.get(id) ?? NO_TRIES));
      return { tests: tries.size, skipped, failing };
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

function messageOf({ outcome }: JunitCase): string {
  const [line = ''] = (outcome?.message || outcome?.text || '').trim().split('\n', 1);
  return line.slice(0, 500).toWellFormed();
}
