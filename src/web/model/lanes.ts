/** A test run, as far as the picture needs it. */
export interface Run {
  readonly testRunId?: string;
  readonly testBranch: string;
  readonly testedPullRequests: readonly { readonly prNumber: number; readonly title: string }[];
  /** The pull requests beneath it that have not landed. */
  readonly onTopOf?: readonly number[];
  readonly purpose?: string;
}

export interface LaneNode<T extends Run> {
  readonly run: T;
  /** Those beneath it that the boxes before it in the lane do not show. */
  readonly on: readonly number[];
}

export interface Lane<T extends Run> {
  readonly nodes: readonly LaneNode<T>[];
}

export interface Picture<T extends Run> {
  readonly lanes: readonly Lane<T>[];
  /** Runs that look for the culprit of a failed batch, or go ahead of their members' turn. */
  readonly searches: readonly T[];
  /** Runs of the target branch itself, or of a pull request that may repair it. */
  readonly ofBranch: readonly T[];
}

/**
 * Orders runs as they are built on each other: every lane begins at the target branch, or at runs of lanes above.
 * Runs that are built on nothing of each other are in lanes of their own.
 */
// SPEC C63
export function drawLanes<T extends Run>(runs: readonly T[]): Picture<T> {
  const of = (...purposes: readonly string[]) => runs.filter(({ purpose = 'LINE' }) => purposes.includes(purpose));
  const line = of('LINE', 'DIRECT');
  const children = Map.groupBy(line, parentsIn(line));
  const lanes: { nodes: LaneNode<T>[] }[] = [];
  const place = (run: T, before: T | undefined, lane: { nodes: LaneNode<T>[] } | undefined): void => {
    const own = lane ?? { nodes: [] };
    if (lane === undefined) lanes.push(own);
    const shown = new Set(lane === undefined || before === undefined ? [] : contentOf(before));
    own.nodes.push({ run, on: (run.onTopOf ?? []).filter((prNumber) => !shown.has(prNumber)) });
    for (const [index, child] of (children.get(run) ?? []).entries()) place(child, run, index === 0 ? own : undefined);
  };
  for (const root of children.get(undefined) ?? []) place(root, undefined, undefined);
  return { lanes, searches: of('SEARCH'), ofBranch: of('HEAD', 'REPAIR') };
}

/** Finds the run that each one is built on: of those whose pull requests are all beneath it, that with the most. */
function parentsIn<T extends Run>(line: readonly T[]): (run: T) => T | undefined {
  const contents = line
    .map((run) => ({ run, numbers: contentOf(run) }))
    .sort((a, b) => b.numbers.length - a.numbers.length);
  return (run) => {
    const beneath = new Set(run.onTopOf ?? []);
    const isBeneath = ({ run: other, numbers }: { readonly run: T; readonly numbers: readonly number[] }) =>
      other !== run && numbers.length <= beneath.size && numbers.every((prNumber) => beneath.has(prNumber));
    return contents.find(isBeneath)?.run;
  };
}

function contentOf({ onTopOf = [], testedPullRequests }: Run): number[] {
  return [...onTopOf, ...testedPullRequests.map(({ prNumber }) => prNumber)];
}

export interface Folded<T extends Run> {
  /** Drawn as rows. */
  readonly rows: readonly Lane<T>[];
  /** Lanes of one run each, side by side. */
  readonly singles: readonly T[];
  /** Lanes that are neither. */
  readonly more: number;
}

/** So many rows fit on a screen. */
const MOST_ROWS = 8;
const MOST_SINGLES = 40;

/** Folds lanes into what a screen can show: with many of them, those of one run have no rows of their own. */
export function foldLanes<T extends Run>(lanes: readonly Lane<T>[], isWhole: boolean): Folded<T> {
  if (lanes.length <= MOST_ROWS) return { rows: lanes, singles: [], more: 0 };
  const isSingle = ({ nodes: [first, second] }: Lane<T>) => second === undefined && first?.on.length === 0;
  const long = lanes.filter((lane) => !isSingle(lane));
  const single = lanes.filter(isSingle).flatMap(({ nodes }) => nodes.map(({ run }) => run));
  const rows = isWhole ? long : long.slice(0, MOST_ROWS);
  const singles = isWhole ? single : single.slice(0, MOST_SINGLES);
  return { rows, singles, more: lanes.length - rows.length - singles.length };
}

/** A screen reader reads all of it, so the rest is counted. */
const MOST_TOLD = 12;

/** In words, for those who do not see the picture. */
export function describeLanes<T extends Run>({ lanes, searches, ofBranch }: Picture<T>, branch: string): string {
  const list = (numbers: readonly number[]) => numbers.map((prNumber) => `#${prNumber}`).join(', ');
  const names = (run: Run) => list(run.testedPullRequests.map(({ prNumber }) => prNumber));
  const told = lanes.slice(0, MOST_TOLD);
  const lines = told.map(({ nodes }) => {
    const runs = nodes
      .slice(0, MOST_TOLD)
      .map(({ run, on }, index) => `${names(run)}${index > 0 && on.length > 0 ? `, also on ${list(on)}` : ''}`);
    const more = nodes.length - runs.length;
    const first = list(nodes[0]?.on ?? []) || branch;
    return `${first}, then ${runs.join(', then ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
  if (lanes.length > told.length) lines.push(`and ${lanes.length - told.length} more lanes`);
  const hunts = searches.map((run) => `a search tests ${names(run)}`);
  const heads = ofBranch.map(() => `${branch} itself is tested`);
  return [...lines, ...hunts, ...heads].join('; ') || 'Nothing is under test.';
}
