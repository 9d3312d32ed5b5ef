import { suitePathOf, type TestIds, type TestNames } from '../../flaky/identity/test-id.ts';
import {
  failsInTheEnd,
  type JunitCase,
  NO_TRIES,
  noteTry,
  type SuiteRepeats,
  type Tries,
  toldMessage,
} from '../../junit/junit-case.ts';
import type { RepoRef } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import type { Quarantine } from './exit-code.ts';
import { withRetries } from './retry.ts';

export interface FailingTest {
  readonly id: string;
  readonly names: TestNames;
  /** The suites below the outermost one in which it failed: tests there may share its id. */
  readonly suitePaths: readonly string[];
  readonly message: string;
}

export interface Outcome {
  /** Distinct tests that passed or failed. */
  readonly tests: number;
  readonly skipped: number;
  /** In order of appearance. */
  readonly failing: readonly FailingTest[];
  /** Tests that failed first, and passed when they were run again. */
  readonly rerun: readonly FailingTest[];
}

interface OutcomeReader {
  add(testCase: JunitCase): void;
  end(): Outcome;
}

/** Finds the failing tests over all files of an upload. */
export function createOutcomeReader(testIds: TestIds): OutcomeReader {
  /** By id, and by suite path. */
  const tests = new Map<string, Map<string, Tries>>();
  const reruns = new Map<string, Set<string>>();
  const failures = new Map<string, Omit<FailingTest, 'suitePaths'>>();
  let skipped = 0;
  const note = (id: string, path: string, run: Parameters<typeof noteTry>[1]) => {
    const paths = tests.get(id) ?? new Map<string, Tries>();
    tests.set(id, paths.set(path, noteTry(paths.get(path) ?? NO_TRIES, run)));
  };
  const packages = createPackageReader(({ id, path, hasPassed }) => {
    if (!hasPassed) return note(id, path, { hasFailed: true, attempt: null });
    reruns.set(id, (reruns.get(id) ?? new Set()).add(path));
  });
  const list = (pathsOf: (id: string) => readonly string[]) =>
    [...failures.values()].map((test) => ({ ...test, suitePaths: pathsOf(test.id) }));
  return {
    add(testCase) {
      if (testCase.status === 'skipped') {
        skipped += 1;
        return;
      }
      const names = namesOf(testCase);
      const id = testIds(names);
      const hasFailed = testCase.status === 'failure';
      const said = suitePathOf(testCase.suites);
      const path = said === '' ? '' : copy(said);
      if (testCase.repeats?.kind === 'go') packages.add(testCase.repeats, { id, path, hasFailed });
      // A case of a package is judged with those of its name; until then the test only counts.
      const isJudged = hasFailed && testCase.repeats?.kind !== 'go';
      note(id, path, { hasFailed: isJudged, attempt: testCase.attempt?.value ?? null });
      if (hasFailed) failures.set(id, { id, names: copyNames(names), message: copy(messageOf(testCase)) });
    },
    end() {
      packages.end();
      const failedIn = (id: string) =>
        [...(tests.get(id) ?? [])].flatMap(([path, tries]) => (failsInTheEnd(tries) ? [path] : []));
      const failing = list(failedIn).filter(({ suitePaths }) => suitePaths.length > 0);
      const rerun = list((id) => (failedIn(id).length > 0 ? [] : [...(reruns.get(id) ?? [])]));
      return { tests: tests.size, skipped, failing, rerun: rerun.filter(({ suitePaths }) => suitePaths.length > 0) };
    },
  };
}

interface PackageRun {
  readonly id: string;
  readonly path: string;
}

/** Compares the cases of one name in a Go package, in any order. Only the current package is in memory. */
// SPEC F37, W69
function createPackageReader(onFailed: (test: PackageRun & { readonly hasPassed: boolean }) => void) {
  let current: SuiteRepeats | undefined;
  const failed = new Map<string, PackageRun>();
  const passed = new Set<string>();
  const end = () => {
    for (const [key, run] of failed) onFailed({ ...run, hasPassed: passed.has(key) });
    failed.clear();
    passed.clear();
  };
  return {
    end,
    add(repeats: SuiteRepeats, { id, path, hasFailed }: PackageRun & { readonly hasFailed: boolean }) {
      if (repeats !== current) end();
      current = repeats;
      const key = `${id} ${path}`;
      if (hasFailed) failed.set(key, { id, path });
      else passed.add(key);
    },
  };
}

function namesOf({ file, classname, suite, name, id }: JunitCase): TestNames {
  return { file: file ?? '', classname: classname ?? '', parent: suite, name, infoId: id ?? '' };
}

/** The parser returns slices, each of which would keep a whole block of the report in memory. */
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
  const [line = ''] = (outcome === null ? '' : toldMessage(outcome)).trim().split('\n', 1);
  return line.slice(0, 500).toWellFormed();
}

interface LookUpOptions {
  readonly org: string;
  readonly repo: RepoRef;
  readonly variant: string;
  readonly retries: number;
  readonly say: (text: string) => void;
}

/** Far below the size limit of a request, even with long names. */
const PER_REQUEST = 1_000;

/** No quarantine covers more paths, so a test with more is refused by these already. */
const MAX_PATHS = 100;

/** Asks which failing tests are quarantined. If the call fails, the answer is `unknown`, which excuses none. */
export async function lookUp(
  context: Context,
  failing: readonly FailingTest[],
  options: LookUpOptions,
): Promise<Quarantine> {
  const ids = new Set<string>();
  try {
    for (let from = 0; from < failing.length; from += PER_REQUEST) {
      const body = describe(failing.slice(from, from + PER_REQUEST), options);
      const answer = await withRetries(() => context.call('getQuarantineConfig', body, { retries: 0 }), options);
      if (answer.isDisabled) return { kind: 'switched_off' };
      for (const id of answer.testIds) ids.add(id);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: 'unknown', reason: error.message };
  }
  // The answer may name other tests too.
  return { kind: 'known', ids: new Set(failing.flatMap(({ id }) => (ids.has(id) ? [id] : []))) };
}

function describe(failing: readonly FailingTest[], { org, repo, variant }: LookUpOptions) {
  return {
    repo,
    orgUrlSlug: org,
    testIdentifiers: failing.map(({ id, names, suitePaths }) => ({
      id,
      name: names.name,
      parentName: names.parent,
      className: names.classname,
      file: names.file,
      variant,
      suitePaths: suitePaths.slice(0, MAX_PATHS),
    })),
  };
}
