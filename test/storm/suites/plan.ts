import type { Prng } from '../../../src/lib/prng.ts';
import type { ChangeRef, Line } from '../plan.ts';
import type { Edit, Project } from './project.ts';

/**
 * docs, code: harmless. breaks: a test of the project fails. build: nothing compiles. scriptless: the script of the tests
 * is gone. infra: the script says that the machine is at fault. flaky: adds a test that fails at random.
 */
export type SuiteKind = 'docs' | 'code' | 'breaks' | 'build' | 'scriptless' | 'infra' | 'flaky';

export const MODES = ['SINGLE', 'ADAPTIVE'] as const;
export type Mode = (typeof MODES)[number];

/** A pull request that adds a flaky test may land and may be removed. */
export type Truth = 'innocent' | 'broken' | 'flaky';

export interface SuiteChange extends ChangeRef {
  readonly kind: SuiteKind;
  readonly truth: Truth;
  readonly edit: Edit;
  /** Its author opens it this long after the one before. */
  readonly afterMs: number;
}

export interface SuitePlan {
  readonly lines: readonly Line[];
  readonly changes: readonly SuiteChange[];
}

/** Dealt from the front, so that a small world has one of each too. */
const DECK: readonly SuiteKind[] = [
  ...(['docs', 'code', 'breaks', 'build', 'scriptless', 'infra', 'flaky'] as const),
  ...(['docs', 'code', 'docs', 'breaks', 'code', 'docs', 'infra', 'code', 'docs'] as const),
];
/** The machine may have two cores, and other work. */
const CONCURRENCY = 3;

export function makeSuitePlan(
  random: Prng,
  of: {
    readonly project: Project;
    readonly prs: number;
    readonly mode: Mode;
    readonly settings: object;
    readonly maxGapMs: number;
    readonly kinds?: readonly SuiteKind[] | undefined;
  },
): SuitePlan {
  const line: Line = {
    branch: 'main',
    mergeMethod: 'MERGE_COMMIT',
    settings: { ...settingsOf(of.mode), ...of.settings },
  };
  const kinds = Array.from({ length: of.prs }, (_, index) => DECK[index % DECK.length] as SuiteKind);
  const changes = random.shuffle(of.kinds ?? kinds).map((kind, index): SuiteChange => {
    const number = index + 1;
    const own = { [ownFileOf(number)]: `Change ${number}\n` };
    const edit = { ...own, ...editOf(random, kind, { project: of.project, number }) };
    return { number, line, kind, truth: truthOf(kind), edit, afterMs: random.integer(of.maxGapMs) };
  });
  return { lines: [line], changes };
}

function settingsOf(mode: Mode) {
  const shared = { mode: 'SINGLE', mergeMethod: 'MERGE_COMMIT', concurrency: CONCURRENCY } as const;
  return { ...shared, optimizationMode: mode === 'ADAPTIVE' ? 'ADAPTIVE' : 'OFF' };
}

/** Only this file of a change is in no other change. */
export function ownFileOf(number: number): string {
  return `docs/change-${number}.md`;
}

function truthOf(kind: SuiteKind): Truth {
  if (kind === 'flaky') return 'flaky';
  return kind === 'docs' || kind === 'code' ? 'innocent' : 'broken';
}

function editOf(
  random: Prng,
  kind: SuiteKind,
  { project, number }: { readonly project: Project; readonly number: number },
): Edit {
  switch (kind) {
    case 'docs':
      return {};
    case 'code':
      return project.code(number);
    case 'breaks':
      return random.pick(project.breaks) ?? {};
    case 'build':
      return project.build;
    case 'scriptless':
      return project.scriptless;
    case 'infra':
      return project.script(`echo '${random.pick(COMPLAINTS)}' >&2; ${random.pick(ENDS)}`);
    case 'flaky':
      return project.flaky(number);
  }
}

const COMPLAINTS = ['No space left on device', '429 Too Many Requests', 'Connection reset by peer'] as const;
const ENDS = ['exit 126', 'exit 127', 'exit 137', 'kill -9 $$', 'kill -9 $PPID'] as const;
