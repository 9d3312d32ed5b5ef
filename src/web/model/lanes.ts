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
  for (const run of line) {
    const parent = findParent(run, line);
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

/** Of the runs whose pull requests are all beneath this one, that with the most. */
function findParent<T extends Run>(run: T, line: readonly T[]): T | undefined {
  const beneath = new Set(run.dependentPrs ?? []);
  let best: T | undefined;
  for (const other of line) {
    if (other === run || !contentOf(other).every((prNumber) => beneath.has(prNumber))) continue;
    if (best === undefined || contentOf(other).length > contentOf(best).length) best = other;
  }
  return best;
}

function contentOf({ dependentPrs = [], testedPullRequests }: Run): number[] {
  return [...dependentPrs, ...testedPullRequests.map(({ prNumber }) => prNumber)];
}

/** In words, for those who do not see the picture. */
export function describeLanes<T extends Run>({ lanes, searches, ofBranch }: Picture<T>, branch: string): string {
  const names = (run: Run) => run.testedPullRequests.map(({ prNumber }) => `#${prNumber}`).join(', ');
  const lines = lanes.map(({ nodes }) => `${branch}, then ${nodes.map(({ run }) => names(run)).join(', then ')}`);
  const hunts = searches.map((run) => `a search tests ${names(run)}`);
  const heads = ofBranch.map(() => `${branch} itself is tested`);
  return [...lines, ...hunts, ...heads].join('; ') || 'Nothing is under test.';
}
