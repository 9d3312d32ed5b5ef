/** A test run, as far as the picture needs it. */
export interface Run {
  readonly testRunId?: string;
  readonly testBranch: string;
  readonly testedPullRequests: readonly { readonly prNumber: number; readonly title: string }[];
  readonly dependentPrs?: readonly number[];
  readonly purpose?: string;
}

export interface LaneNode<T extends Run> {
  readonly run: T;
  /** How many runs it is built on. */
  readonly depth: number;
  /** The run it is built on is in another lane, above. */
  readonly isBranching: boolean;
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
 * Orders runs as they are built on each other: every lane begins at the target branch, or at a run of a lane above.
 * Runs that are built on nothing of each other are in lanes of their own.
 */
export function drawLanes<T extends Run>(runs: readonly T[]): Picture<T> {
  const of = (...purposes: readonly string[]) => runs.filter(({ purpose = 'LINE' }) => purposes.includes(purpose));
  const line = of('LINE', 'DIRECT');
  const children = new Map<T | undefined, T[]>();
  for (const [run, parent] of findParents(line)) {
    children.set(parent, [...(children.get(parent) ?? []), run]);
  }
  const lanes: { nodes: LaneNode<T>[] }[] = [];
  const place = (run: T, depth: number, lane: { nodes: LaneNode<T>[] } | undefined): void => {
    const own = lane ?? { nodes: [] };
    if (lane === undefined) lanes.push(own);
    own.nodes.push({ run, depth, isBranching: lane === undefined && depth > 0 });
    for (const [index, child] of (children.get(run) ?? []).entries()) {
      place(child, depth + 1, index === 0 ? own : undefined);
    }
  };
  for (const root of children.get(undefined) ?? []) place(root, 0, undefined);
  return { lanes, searches: of('SEARCH'), ofBranch: of('HEAD', 'REPAIR') };
}

/** Finds the run that each one is built on: of those whose pull requests are all beneath it, that with the most. */
function findParents<T extends Run>(line: readonly T[]): ReadonlyMap<T, T | undefined> {
  const contents = line
    .map((run) => ({ run, numbers: contentOf(run) }))
    .sort((a, b) => b.numbers.length - a.numbers.length);
  return new Map(
    line.map((run) => {
      const beneath = new Set(run.dependentPrs ?? []);
      const isBeneath = ({ run: other, numbers }: { readonly run: T; readonly numbers: readonly number[] }) =>
        other !== run && numbers.length <= beneath.size && numbers.every((prNumber) => beneath.has(prNumber));
      return [run, contents.find(isBeneath)?.run];
    }),
  );
}

function contentOf({ dependentPrs = [], testedPullRequests }: Run): number[] {
  return [...dependentPrs, ...testedPullRequests.map(({ prNumber }) => prNumber)];
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
  const isSingle = ({ nodes: [first, second] }: Lane<T>) => second === undefined && first?.isBranching !== true;
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
  const names = (run: Run) => run.testedPullRequests.map(({ prNumber }) => `#${prNumber}`).join(', ');
  const told = lanes.slice(0, MOST_TOLD);
  const lines = told.map(({ nodes }) => {
    const runs = nodes.slice(0, MOST_TOLD).map(({ run }) => names(run));
    const more = nodes.length - runs.length;
    return `${branch}, then ${runs.join(', then ')}${more > 0 ? ` and ${more} more` : ''}`;
  });
  if (lanes.length > told.length) lines.push(`and ${lanes.length - told.length} more lanes`);
  const hunts = searches.map((run) => `a search tests ${names(run)}`);
  const heads = ofBranch.map(() => `${branch} itself is tested`);
  return [...lines, ...hunts, ...heads].join('; ') || 'Nothing is under test.';
}
