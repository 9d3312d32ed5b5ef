import { clean, paint, type Style } from '../core/terminal.ts';
import type { TestRun } from './read-queue.ts';

export interface RunContext {
  readonly branch: string;
  readonly now: number;
  /** There is room for the names of checks. */
  readonly isWide: boolean;
}

/** A line for each run of a lane, joined by ties: `#7  on main  ✓ lint ● test  0:42  Teach the parser about tabs`. */
export function formatLane(lane: Lane, context: RunContext): string[][] {
  return lane.map((run, index) => [
    `${paint('gray', `${tieOf(index, lane.length)} `)}${formatTested(run, context)}`,
    paint('gray', formatBase(run, context)),
    formatChecks(run, context),
    paint('gray', formatElapsed(run.createdAt, context.now)),
    formatTitle(run),
  ]);
}

function tieOf(index: number, count: number): string {
  if (count === 1) return '─';
  if (index === 0) return '┌';
  return index === count - 1 ? '└' : '├';
}

/** A bisection has its own slots. */
export function isBisection({ testBranch }: TestRun): boolean {
  return testBranch.endsWith('-bisection');
}

/** A longer list says less than a count. */
const MAX_NUMBERS = 4;

function formatTested(run: TestRun, { branch }: RunContext): string {
  const numbers = run.testedPullRequests.map(({ prNumber }) => `#${prNumber}`);
  const left = numbers.length - MAX_NUMBERS;
  const more = left > 0 ? [`+${left}`] : [];
  const text = numbers.length === 0 ? clean(branch) : [...numbers.slice(0, MAX_NUMBERS), ...more].join(' ');
  return `${paint('bold', text)}${isBisection(run) ? paint('yellow', ' bisecting') : ''}`;
}

function formatBase({ testedPullRequests, dependentPrs = [] }: TestRun, { branch }: RunContext): string {
  if (testedPullRequests.length === 0) return 'alone';
  const nearest = dependentPrs.at(-1);
  if (nearest === undefined) return `on ${clean(branch)}`;
  return dependentPrs.length === 1 ? `on #${nearest}` : `on #${nearest} +${dependentPrs.length - 1}`;
}

function formatTitle({ testedPullRequests }: TestRun): string {
  const [first, ...others] = testedPullRequests;
  if (first === undefined) return 'Does it still pass?';
  return others.length === 0 ? clean(first.title) : `${clean(first.title)} and ${others.length} more`;
}

interface Mark {
  readonly text: string;
  readonly style: Style;
}

const QUEUED: Mark = { text: '○', style: 'gray' };
const RUNNING: Mark = { text: '●', style: 'cyan' };
const PASSED: Mark = { text: '✓', style: 'green' };
const WITHOUT_RESULT: Mark = { text: '⊘', style: 'yellow' };
const MARKS: Readonly<Record<string, Mark>> = {
  ...{ SUCCESS: PASSED, NEUTRAL: PASSED, SKIPPED: PASSED },
  ...{ CANCELLED: WITHOUT_RESULT, STALE: WITHOUT_RESULT },
};
const FAILED: Mark = { text: '✗', style: 'red' };
const WAIVED: Mark = { text: '≈', style: 'yellow' };

/** More names do not fit on a line. */
const MAX_NAMES = 4;

function formatChecks(run: TestRun, { isWide }: RunContext): string {
  if (run.testBranchSha === '') return paint('gray', 'building');
  const reported = new Map(run.checkSuites.flatMap(({ checkRuns }) => checkRuns).map((check) => [check.name, check]));
  const names = [...new Set([...run.requiredStatuses, ...reported.keys()])];
  const isNamed = isWide && names.length <= MAX_NAMES;
  const marks = names.map((name) => {
    const { text, style } = markOf(reported.get(name));
    // Only notable results are coloured.
    const nameStyle = style === 'red' || style === 'gray' ? style : undefined;
    return isNamed ? `${paint(style, text)}${paint(nameStyle, ` ${clean(name)}`)}` : paint(style, text);
  });
  return marks.join(isNamed ? '  ' : '');
}

type CheckRun = TestRun['checkSuites'][number]['checkRuns'][number];

function markOf(check: CheckRun | undefined): Mark {
  // A failed check that may still be waived counts as running.
  if (check?.status === 'IN_PROGRESS' || check?.quarantine?.verdict === 'PENDING') return RUNNING;
  if (check?.status !== 'COMPLETED') return QUEUED;
  if (check.quarantine?.verdict === 'WAIVED') return WAIVED;
  return MARKS[check.conclusion ?? ''] ?? FAILED;
}

/** Runs that build on each other, the lowest first. Runs of different lanes do not wait for each other. */
type Lane = readonly TestRun[];

/** In the order of their first runs. */
export function groupLanes(runs: readonly TestRun[]): readonly Lane[] {
  const lanes: { readonly numbers: Set<number>; readonly runs: TestRun[] }[] = [];
  for (const run of runs) {
    const numbers = numbersIn(run);
    // A run that builds on several lanes joins them into one.
    const [first, ...others] = lanes.filter((lane) => numbers.some((number) => lane.numbers.has(number)));
    const lane = first ?? { numbers: new Set<number>(), runs: [] };
    if (first === undefined) lanes.push(lane);
    for (const other of others) {
      for (const number of other.numbers) lane.numbers.add(number);
      lane.runs.push(...other.runs);
      lanes.splice(lanes.indexOf(other), 1);
    }
    for (const number of numbers) lane.numbers.add(number);
    lane.runs.push(run);
  }
  return lanes.map((lane) => lane.runs);
}

function numbersIn({ testedPullRequests, dependentPrs = [] }: TestRun): number[] {
  return [...testedPullRequests.map(({ prNumber }) => prNumber), ...dependentPrs];
}

/** The elapsed time: `0:42`, `12:05`, `1:02:05`, and from two days on `3 d`. */
export function formatElapsed(since: string | undefined, now: number): string {
  if (since === undefined) return '';
  // The server's clock may be a little ahead of this one.
  const seconds = Math.max(0, Math.floor((now - Date.parse(since)) / 1000));
  if (seconds >= 2 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const tail = String(seconds % 60).padStart(2, '0');
  return hours === 0 ? `${minutes}:${tail}` : `${hours}:${String(minutes).padStart(2, '0')}:${tail}`;
}
