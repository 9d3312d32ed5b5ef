import type { BranchClass } from './branch.ts';
import type { Issue } from './issue.ts';

const MAX_NAME_BYTES = 1_000;
const HOUR_MS = 3_600_000;
const MAX_AGE_MS = 30 * 24 * HOUR_MS;
/** Allows for clock differences between machines. */
const MAX_AHEAD_MS = 5 * 60_000;

/**
 * A case as it was read, before missing values are filled in. Instants and durations are null if the report has none.
 */
export interface CaseFacts {
  readonly suite: string;
  readonly name: string;
  readonly classname: string;
  readonly file: string;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
}

export interface UploadFacts {
  readonly sha: string;
  readonly branch: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  /** Null, here and below: this kind of upload does not carry the fact. */
  readonly authorName: string | null;
  readonly authorEmail: string | null;
  readonly commitMessage: string | null;
}

/** A finding of one rule. A thousand cases with the same finding give one issue with a count. */
export interface IdentityFinding {
  readonly level: Issue['level'];
  readonly message: string;
  readonly hint: string;
}

const finding = (level: Issue['level'], message: string, hint: string): IdentityFinding => ({ level, message, hint });

const NO_SUITE = finding('warning', 'A suite has no name.', 'Name suites, so that equal cases of two are told apart.');
const NO_NAME = finding('error', 'A case has no name and is left out.', 'Give every <testcase> a name.');
const LONG_NAME = finding('warning', 'A name is longer than 1000 bytes.', 'Shorten names of parametrised cases.');
const LONG_CLASS = finding('warning', 'A class name is longer than 1000 bytes.', 'Shorten it.');
const LONG_FILE = finding('warning', 'A file path is longer than 1000 bytes.', 'Use paths relative to the repository.');
const NO_CLASS = finding(
  'warning',
  'A case has no class name.',
  'Set `classname`: it is part of what a test is known by.',
);
const NO_FILE = finding('warning', 'A case has no file.', 'Set `file`: owners are found by it.');
const ABSOLUTE = /^(?:[/\\]|[A-Za-z]:[/\\])/;
const ABSOLUTE_FILE = finding(
  'warning',
  'A file path is that of one machine: checked out to another folder, the test is another one.',
  'Upload with `sluice upload` in the checkout, or say where it is: `checkout_root`.',
);
const NO_DURATION = finding('warning', 'A case has no duration.', 'Set `time`, in seconds.');
const NO_TIME = finding('warning', 'A case has no usable timestamp.', 'Set `timestamp` on the suite or the case.');
const FUTURE = finding('warning', 'A timestamp is in the future.', 'Check the clock and the time zone of the machine.');
const STALE = finding('warning', 'A timestamp is more than an hour old.', 'Upload reports right after the tests.');
const OLD = finding('warning', 'A timestamp is more than a day old.', 'Is this the report of an earlier run?');

/** Checks one case; an error means that the case is left out. */
// SPEC U14, U51
export function checkCase(facts: CaseFacts, uploadedAt: number): readonly IdentityFinding[] {
  if (facts.name === '') return [NO_NAME];
  const found: IdentityFinding[] = [];
  if (facts.suite === '') found.push(NO_SUITE);
  if (isLong(facts.name)) found.push(LONG_NAME);
  if (facts.classname === '') found.push(NO_CLASS);
  else if (isLong(facts.classname)) found.push(LONG_CLASS);
  if (facts.file === '') found.push(NO_FILE);
  else if (isLong(facts.file)) found.push(LONG_FILE);
  if (ABSOLUTE.test(facts.file)) found.push(ABSOLUTE_FILE);
  if (facts.durationMs === null) found.push(NO_DURATION);
  const ofTime = checkTime(facts.startedAt, uploadedAt);
  if (ofTime !== undefined) found.push(ofTime);
  return found;
}

function checkTime(startedAt: number | null, uploadedAt: number): IdentityFinding | undefined {
  const ageMs = startedAt === null ? Number.POSITIVE_INFINITY : uploadedAt - startedAt;
  if (!(ageMs <= MAX_AGE_MS)) return NO_TIME;
  if (ageMs < -MAX_AHEAD_MS) return FUTURE;
  if (ageMs > 24 * HOUR_MS) return OLD;
  return ageMs > HOUR_MS ? STALE : undefined;
}

function isLong(text: string): boolean {
  if (text.length * 3 <= MAX_NAME_BYTES) return false;
  return text.length > MAX_NAME_BYTES || new TextEncoder().encode(text).length > MAX_NAME_BYTES;
}

/** Checks the origin of an upload. */
// SPEC U62
export function checkUpload(facts: UploadFacts): readonly IdentityFinding[] {
  const found: IdentityFinding[] = [];
  const add = (isWrong: boolean, level: Issue['level'], message: string, hint: string) => {
    if (isWrong) found.push(finding(level, message, hint));
  };
  const isPr = facts.branchClass === 'PR';
  add(facts.sha === '', 'error', 'The upload has no commit.', 'Run in a checkout, or give the commit with the upload.');
  add(facts.branch === '', 'error', 'The upload has no branch.', 'Give the branch with the upload.');
  add(
    isPr && facts.prNumber === null,
    'error',
    'The branch is of a pull request, whose number is missing.',
    'Give the number of the pull request with the upload.',
  );
  add(
    !isPr && facts.prNumber !== null,
    'error',
    'There is a number of a pull request, but the branch is not of one.',
    'Give the number only for runs of pull requests.',
  );
  add(facts.authorName === '' && facts.authorEmail === '', 'warning', 'The author is unknown.', 'Run in a checkout.');
  add(facts.commitMessage === '', 'warning', 'The commit has no message.', 'Run in a checkout.');
  return found;
}

export interface FindingCounts {
  /** `line` is the position of the first one. */
  count(found: readonly IdentityFinding[], line: number | null): void;
  list(file: string | null): readonly Issue[];
}

/** Memory grows with the kinds of findings, not with the cases. */
export function createFindingCounts(): FindingCounts {
  const counts = new Map<IdentityFinding, { count: number; readonly line: number | null }>();
  return {
    count: (found, line) => {
      for (const each of found) {
        const known = counts.get(each);
        if (known === undefined) counts.set(each, { count: 1, line });
        else known.count += 1;
      }
    },
    list: (file) =>
      [...counts].map(([{ level, message, hint }, { count, line }]) => ({
        level,
        file,
        line,
        message: count === 1 ? message : `${message} (${count} times)`,
        hint,
      })),
  };
}
