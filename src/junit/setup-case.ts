import { type JunitCase, type JunitOutcome, toldMessage } from './junit-case.ts';

/** The part of a case that tells whether it is of a test. */
export type MaybeTest = Pick<JunitCase, 'name' | 'classname' | 'suite' | 'status'> & {
  readonly outcome: Pick<JunitOutcome, 'message' | 'text'> | null;
};

const SCRIPT = /\.[cm]?[jt]sx?$/;
const CLASS_OR_SCRIPT = /\.(?:[A-Z][\w$]*|[cm]?[jt]sx?)$/;
/** Of go-junit-report, of Mocha, and of Jest. Hooks of each test name the test instead. */
const SETUP_NAME =
  /^\[(?:build|setup) failed\]$|"(?:before|after) all" hook\b|^ ?Test execution failure: could be caused by test hooks/;
/** Of Gradle, and of Surefire 2 with JUnit 4. */
const CLASS_SETUP: ReadonlySet<string> = new Set(['initializationError', 'executionError', 'classMethod']);

/**
 * True for a failed case that stands for no test: code that did not compile, a file that did not load, a package or
 * class whose setup failed. Such a case never passes under its name, so it has no history.
 */
// SPEC F89
export function isSetupCase({ name, classname, suite, status, outcome }: MaybeTest): boolean {
  // First, because this is asked for every case.
  if (status !== 'failure') return false;
  const of = classname ?? '';
  // gotestsum, which names packages as classes of tests.
  if (name === 'TestMain' && (of === '' || of === '.')) return true;
  // Surefire and Vitest; jest-junit.
  if ((of === name && suite === name && CLASS_OR_SCRIPT.test(name)) || of === 'Test suite failed to run') return true;
  if (SETUP_NAME.test(name) || (of !== '' && CLASS_SETUP.has(name))) return true;
  const message = outcome?.message;
  // pytest; node --test; go-junit-report.
  if (message === 'collection failure' || (message === 'internal error' && of === 'pytest')) return true;
  if (message === 'test failed') return of === 'test' && SCRIPT.test(name);
  return message === 'Build error' ? name.startsWith('[') : message === 'Runtime error' && name === 'Failure';
}

const MAX_TOLD = 3;
const MAX_LENGTH = 120;

export type SetupErrors = ReturnType<typeof createSetupErrors>;

/** Collects the setup cases of a report. Its texts may contain secrets. */
export function createSetupErrors() {
  const told: string[] = [];
  let last = '';
  let count = 0;
  return {
    /** Returns true if the case is one. */
    take(test: MaybeTest): boolean {
      if (!isSetupCase(test)) return false;
      const { name, suite } = test;
      const label = suite === name || suite === '' ? name : `${suite} > ${name}`;
      // jest-junit writes two cases for one file.
      if (label === last) return true;
      last = label;
      count += 1;
      if (told.length < MAX_TOLD) told.push(`${label.slice(0, MAX_LENGTH)}: ${reasonOf(test).slice(0, MAX_LENGTH)}`);
      return true;
    },
    get count(): number {
      return count;
    },
    /** Null if there are none. */
    tell(): string | null {
      const more = count > told.length ? `; and ${count - told.length} more` : '';
      return count === 0 ? null : `${count} error${count === 1 ? '' : 's'} before any test: ${told.join('; ')}${more}`;
    },
  };
}

const SAYS_LITTLE = /^(?:collection failure|(?:build|runtime) error|test failed)$/i;
const PYTEST_ERROR = /^E {2,}(.*)$/gm;
const FRAMING = /^\s*(?:● Test suite failed to run|PASS)\n\s*/;

/** One line. */
function reasonOf({ outcome }: MaybeTest): string {
  if (outcome === null) return '';
  const text = (SAYS_LITTLE.test(outcome.message ?? '') && outcome.text) || toldMessage(outcome);
  const line = [...text.matchAll(PYTEST_ERROR)].at(-1)?.[1] ?? text.replace(FRAMING, '').trim().split('\n', 1)[0] ?? '';
  return line.replaceAll('\t', ' ').trim();
}
