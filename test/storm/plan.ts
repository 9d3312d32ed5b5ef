import type { Prng } from '../../src/lib/prng.ts';
import { clashFile, type Files, sharedText } from './project.ts';

/** A queue with its own branch. */
export interface Line {
  readonly branch: string;
  readonly mergeMethod: 'MERGE_COMMIT' | 'SQUASH' | 'REBASE';
  readonly settings: Readonly<Record<string, unknown>> & { readonly mode: 'SINGLE' | 'PARALLEL' };
}

/**
 * good: passes, whatever else lands. same_file: passes too, and changes a line of a file that others change. bad: fails
 * by itself. pair: fails only together with its partner. clash: conflicts with its partner. budget: too many of them
 * fail together.
 */
export type Kind = 'good' | 'same_file' | 'bad' | 'pair' | 'clash' | 'budget';

/** The acts of the author besides submitting. */
export type Twist = 'none' | 'cancels' | 'cancels_for_good' | 'pushes' | 'closes';

/** A pull request of a queue. */
export interface ChangeRef {
  readonly number: number;
  readonly line: Line;
}

export interface PlannedChange extends ChangeRef {
  readonly kind: Kind;
  readonly partner: number | undefined;
  readonly author: { readonly name: string; readonly email: string };
  /** One for each commit. */
  readonly commits: readonly Files[];
  readonly targets: readonly string[] | 'ALL';
  readonly priority: 'urgent' | 'high' | undefined;
  readonly twist: Twist;
  /** How long its author waits before the twist. */
  readonly twistAfterMs: number;
  /** The author opens it after this many kills. */
  readonly afterKills: number;
  /** Based on the head of the target branch when it is opened, not on the first commit. */
  readonly isFresh: boolean;
}

export interface Plan {
  readonly lines: readonly Line[];
  readonly changes: readonly PlannedChange[];
  readonly clashes: number;
}

const METHODS = ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const;
const BRANCHES = ['main', 'next', 'release/1.x'] as const;
/** Changed lines this far apart merge without conflict. */
const LINE_DISTANCE = 4;
/** The share of kills during which pull requests still arrive. */
const ARRIVALS = 0.85;
/** The share of pull requests opened before the first kill. */
const AT_ONCE = 0.2;

export function makePlan(random: Prng, { prs, kills }: { readonly prs: number; readonly kills: number }): Plan {
  const methods = random.shuffle(METHODS);
  const lines = BRANCHES.map((branch, index) => makeLine(random, branch, methods[index] as Line['mergeMethod']));
  const drafts = draftAll(random, lines, prs);
  const changes = random.shuffle(drafts).map((draft, index) => ({ ...draft, number: index + 1 }));
  const numbers = new Map(changes.map(({ id, number }) => [id, number]));
  return {
    lines,
    clashes: drafts.length,
    changes: changes.map((draft) => finish(random, draft, { numbers, kills })),
  };
}

function makeLine(random: Prng, branch: string, mergeMethod: Line['mergeMethod']): Line {
  const batch = random.chance(0.5);
  return {
    branch,
    mergeMethod,
    settings: {
      mergeMethod,
      mode: random.chance(0.5) ? 'PARALLEL' : 'SINGLE',
      concurrency: random.between(1, 5),
      batch,
      ...(batch ? { batchingMinSize: random.between(2, 5), batchingMaxWaitTimeMinutes: 0 } : {}),
      canOptimisticallyMerge: random.chance(0.3),
      pendingFailureDepth: random.chance(0.3) ? random.between(1, 3) : 0,
      exactLanding: random.chance(0.2),
      optimizationMode: random.chance(0.3) ? 'BISECTION_SKIP_REDUNDANT_TESTS' : 'OFF',
    },
  };
}

interface Draft {
  readonly id: number;
  readonly line: Line;
  readonly kind: Kind;
  readonly partnerId: number | undefined;
  /** Counts within its kind: which pair, which clash, which line. */
  readonly index: number;
}

function draftAll(random: Prng, lines: readonly Line[], prs: number): readonly Draft[] {
  const drafts: Draft[] = [];
  while (drafts.length < prs) {
    const line = random.pick(lines) as Line;
    const kind = chooseKind(random);
    const id = drafts.length;
    const isDouble = (kind === 'pair' || kind === 'clash') && id + 1 < prs;
    drafts.push({ id, line, kind, index: id, partnerId: isDouble ? id + 1 : undefined });
    if (isDouble) drafts.push({ id: id + 1, line, kind, index: id, partnerId: id });
  }
  return drafts;
}

function chooseKind(random: Prng): Kind {
  const kinds: readonly Kind[] = [
    'good',
    'good',
    'good',
    'good',
    'same_file',
    'same_file',
    'bad',
    'pair',
    'clash',
    'budget',
  ];
  return random.pick(kinds) as Kind;
}

function finish(
  random: Prng,
  draft: Draft & { readonly number: number },
  { numbers, kills }: { readonly numbers: ReadonlyMap<number, number>; readonly kills: number },
): PlannedChange {
  const { number, line, kind, partnerId } = draft;
  const own = { [`src/${number}.txt`]: `${number}\n` };
  const commits = [{ ...own, ...filesOf(random, draft) }];
  return {
    number,
    line,
    kind,
    partner: partnerId === undefined ? undefined : numbers.get(partnerId),
    author: { name: `Author ${number}`, email: `author-${number}@example.test` },
    commits: random.chance(0.3) ? [...commits, { [`docs/${number}.txt`]: `${number}\n` }] : commits,
    targets: random.chance(0.05) ? 'ALL' : targetsOf(draft),
    priority: random.chance(0.1) ? random.pick(['urgent', 'high']) : undefined,
    twist: chooseTwist(random),
    twistAfterMs: random.between(0, 1_500),
    afterKills: random.chance(AT_ONCE) ? 0 : random.integer(Math.ceil(kills * ARRIVALS)),
    isFresh: kind === 'good' && random.chance(0.5),
  };
}

function chooseTwist(random: Prng): Twist {
  const twists: readonly Twist[] = ['cancels', 'cancels', 'pushes', 'pushes', 'cancels_for_good', 'closes'];
  return random.chance(0.25) ? (random.pick(twists) as Twist) : 'none';
}

function filesOf(random: Prng, { number, kind, index, partnerId }: Draft & { readonly number: number }): Files {
  switch (kind) {
    case 'good':
      return {};
    case 'same_file':
      return { 'shared.txt': sharedText(index * LINE_DISTANCE) };
    case 'bad':
      return { 'bad/file': `${number}\n` };
    case 'pair':
      return { [`${(partnerId ?? 0) > index ? 'left' : 'right'}/${index}`]: `${number}\n` };
    case 'clash':
      return { [clashFile(index)]: `${number}\n` };
    case 'budget':
      return { [`budget/${number}`]: `${random.between(2, 5)}\n` };
  }
}

/** The targets are correct: changes that break together share one. */
function targetsOf({ number, kind, index }: Draft & { readonly number: number }): readonly string[] {
  const own = `own-${number}`;
  if (kind === 'good') return [own];
  if (kind === 'bad') return [own, 'bad'];
  if (kind === 'same_file') return [own, 'shared'];
  return kind === 'budget' ? [own, 'budget'] : [own, `${kind}-${index}`];
}
