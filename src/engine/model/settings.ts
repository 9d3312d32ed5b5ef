import { nameOf, type RequiredStatus } from './check.ts';
import { type Freeze, MAX_FREEZES, problemOfFreezes } from './freeze.ts';

/** The settings of a queue. One table says what each setting does, which values it accepts and its default. */

export const QUEUE_MODES = ['SINGLE', 'PARALLEL'] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];
export const OPTIMIZATION_MODES = ['OFF', 'BISECTION_SKIP_REDUNDANT_TESTS', 'ADAPTIVE'] as const;
export const DIRECT_MERGE_MODES = ['OFF', 'ALWAYS'] as const;
export const MERGE_METHODS = ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const;
export const TEST_BRANCH_MODES = ['RENAME_TEMP_BRANCH', 'PUSH_NEW_BRANCH_FROM_TEMP'] as const;
export const LANDING_MODES = ['PUSH', 'API'] as const;
export const HONOR_QUARANTINE_MODES = ['OFF', 'SHADOW', 'ON'] as const;
export const CONFIRM_MODES = ['AUTO', 'NEVER'] as const;
export const NEW_FLAKES_MODES = ['TELL', 'REMOVE'] as const;

export interface BatchingRule {
  /** A target, or a prefix of targets followed by one `*`. */
  readonly targetPattern: string;
  readonly policy: 'ISOLATE';
}

export interface QueueSettings {
  readonly mode: QueueMode;
  readonly concurrency: number;
  /** Null: the same as `concurrency`. 0: bisections have no slots of their own and share the main ones. */
  readonly bisectionConcurrency: number | null;
  /** Null: it follows the runs of the queue. 0: tests may take forever. */
  readonly testingTimeoutMinutes: number | null;
  readonly notReadyTimeoutHours: number;
  readonly priorityAgeingHours: number;
  readonly maxEntriesPerActor: number;
  readonly pendingFailureDepth: number;
  readonly canOptimisticallyMerge: boolean;
  readonly batch: boolean;
  readonly batchingMaxWaitTimeMinutes: number;
  readonly batchingMinSize: number;
  readonly batchingRules: readonly BatchingRule[];
  readonly optimizationMode: (typeof OPTIMIZATION_MODES)[number];
  /** ADAPTIVE: one CI run is worth this many pull requests that wait for the duration of a run. */
  readonly runCost: number;
  readonly maxGroupSize: number;
  readonly directMergeMode: (typeof DIRECT_MERGE_MODES)[number];
  readonly mergeMethod: (typeof MERGE_METHODS)[number];
  readonly landingMode: (typeof LANDING_MODES)[number];
  readonly exactLanding: boolean;
  readonly reusePassedTrees: boolean;
  readonly honorQuarantine: (typeof HONOR_QUARANTINE_MODES)[number];
  readonly confirmFailures: (typeof CONFIRM_MODES)[number];
  readonly refuseUnchanged: boolean;
  readonly newFlakes: (typeof NEW_FLAKES_MODES)[number];
  readonly createPrsForTestingBranches: boolean;
  readonly testBranchConstructionMode: (typeof TEST_BRANCH_MODES)[number];
  /** Null: no override. Empty: nothing is required. */
  readonly requiredStatuses: readonly RequiredStatus[] | null;
  /** Names in which `*` stands for any text. */
  readonly failFastStatuses: readonly RequiredStatus[];
  readonly probeStatuses: readonly string[];
  readonly freezes: readonly Freeze[];
  readonly allowedBotSubmitters: readonly string[];
  readonly commentsEnabled: boolean;
  readonly commandsEnabled: boolean;
  readonly statusCheckEnabled: boolean;
  readonly extensionEnabled: boolean;
  readonly labelCommandsEnabled: boolean;
  readonly stateLabelsEnabled: boolean;
  readonly enqueueingLabel: string;
}

export type SettingName = keyof QueueSettings;

export type SettingSpec =
  | {
      readonly kind: 'integer';
      readonly min: number;
      readonly max: number;
      readonly nullable?: true;
      readonly text: string;
    }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly text: string }
  | { readonly kind: 'boolean'; readonly text: string }
  | { readonly kind: 'choice'; readonly values: readonly string[]; readonly text: string }
  | { readonly kind: 'text'; readonly maxLength: number; readonly text: string }
  | { readonly kind: 'names'; readonly maxItems: number; readonly text: string }
  | { readonly kind: 'statuses'; readonly maxItems: number; readonly nullable?: true; readonly text: string }
  | { readonly kind: 'batchingRules' | 'freezes'; readonly maxItems: number; readonly text: string };

const integer = (bounds: { readonly min: number; readonly max: number }, text: string) =>
  ({ kind: 'integer', ...bounds, text }) as const;
const boolean = (text: string) => ({ kind: 'boolean', text }) as const;
const choice = (values: readonly string[], text: string) => ({ kind: 'choice', values, text }) as const;

// SPEC S1
export const SETTING_SPECS: { readonly [Name in SettingName]: SettingSpec } = {
  mode: choice(
    QUEUE_MODES,
    'SINGLE: one line, every pull request is tested on top of all ahead of it. PARALLEL: pull requests whose impacted targets do not overlap are tested and landed side by side.',
  ),
  concurrency: integer({ min: 1, max: 1000 }, 'How many candidates may be under test at once.'),
  bisectionConcurrency: {
    kind: 'integer',
    min: 0,
    max: 1000,
    nullable: true,
    text: 'How many candidates of bisections may be under test at once, beside the main ones; 0 shares the main slots. Reads as concurrency while unset; null unsets it.',
  },
  testingTimeoutMinutes: {
    kind: 'integer',
    min: 0,
    max: 10080,
    nullable: true,
    text: 'A candidate whose required checks are not all there after this many minutes has failed; 0 waits forever. While unset it follows the queue: four times the 95th percentile of its latest passed runs, at least 10 minutes, or 300 before 20 runs have passed; null unsets it.',
  },
  notReadyTimeoutHours: integer(
    { min: 0, max: 720 },
    'A pull request that has been NOT_READY for this many hours is cancelled; 0 waits forever.',
  ),
  priorityAgeingHours: integer(
    { min: 0, max: 720 },
    'A waiting pull request counts as one level higher (low, medium, high) each time it has waited this many hours; 0 never raises it.',
  ),
  maxEntriesPerActor: integer(
    { min: 0, max: 500 },
    'How many pull requests of one token, or of one account at the forge, may be in the line at once; a stack counts as one. Further ones are NOT_READY until one leaves. 0 sets no limit.',
  ),
  pendingFailureDepth: integer(
    { min: 0, max: 1000 },
    'How many candidates behind a failed one are waited for before its pull requests are removed.',
  ),
  canOptimisticallyMerge: boolean('A passed candidate vouches for the pull requests ahead of it that it contains.'),
  batch: boolean('Test several pull requests as one candidate.'),
  batchingMaxWaitTimeMinutes: integer(
    { min: 0, max: 10080 },
    'How long the first pull request of a batch waits for others; 0 never waits.',
  ),
  batchingMinSize: integer({ min: 1, max: 1000 }, 'The size at which a batch is tested, and its largest size.'),
  batchingRules: {
    kind: 'batchingRules',
    maxItems: 100,
    text: 'Pull requests whose impacted targets match a rule are tested alone (PARALLEL only).',
  },
  optimizationMode: choice(
    OPTIMIZATION_MODES,
    'BISECTION_SKIP_REDUNDANT_TESTS: a set of pull requests that already failed in a bisection is not tested again in it. ADAPTIVE: the queue sizes batches, searches and speculation by what it has learned; batch, batchingMinSize, batchingMaxWaitTimeMinutes, bisectionConcurrency, pendingFailureDepth and canOptimisticallyMerge are not used.',
  ),
  runCost: {
    kind: 'number',
    min: 0.1,
    max: 100,
    text: 'ADAPTIVE only: one CI run is worth as much as this many pull requests that wait for the duration of a run. 16 is cheapest, 4 economical, 2 balanced, 1 quick, 0.25 fastest.',
  },
  maxGroupSize: integer(
    { min: 1, max: 1000 },
    'ADAPTIVE only: the largest number of pull requests that are tested together.',
  ),
  directMergeMode: choice(
    DIRECT_MERGE_MODES,
    'ALWAYS: a pull request that already contains the head of the target and passed its required checks lands without another run when the queue is empty.',
  ),
  mergeMethod: choice(MERGE_METHODS, 'How pull requests become commits on the target.'),
  landingMode: choice(
    LANDING_MODES,
    'PUSH: the tested commits are pushed in one guarded move. API: pull requests are merged one by one through the forge, so that they show as merged; the target is compared with what was tested after each. Queues on GitHub begin with API, on Gitea with PUSH; plain git always uses PUSH.',
  ),
  exactLanding: boolean(
    'Never land a tested tree composed with what disjoint pull requests landed meanwhile: test again instead.',
  ),
  reusePassedTrees: boolean('A tree that passed is never tested again.'),
  honorQuarantine: choice(
    HONOR_QUARANTINE_MODES,
    'ON: a required check that fails only in tests that were quarantined before counts as passed; its results are waited for, 60 seconds at most. SHADOW: only say what would have been waived. OFF: do not look.',
  ),
  confirmFailures: choice(
    CONFIRM_MODES,
    'AUTO: a pull request is removed for a failure only after it failed again in runs of its own on the head, as often as the record of the failed test demands. NEVER: the first failure that is its own removes it.',
  ),
  refuseUnchanged: boolean(
    'Refuse to take a pull request again that failed and would be tested with the same tree, checks and commands. submitPullRequest takes it with force.',
  ),
  newFlakes: choice(
    NEW_FLAKES_MODES,
    'TELL: a pull request with which a test became flaky is told, and lands. REMOVE: it leaves the queue. Needs confirmFailures AUTO.',
  ),
  createPrsForTestingBranches: boolean('Open a draft pull request for every test branch.'),
  testBranchConstructionMode: choice(
    TEST_BRANCH_MODES,
    'How a finished test branch gets its name; kept for clients of the reference product.',
  ),
  requiredStatuses: {
    kind: 'statuses',
    maxItems: 100,
    nullable: true,
    text: 'The checks that a candidate must pass: names, or { name, app } where only the word of that app or account counts (its slug, login or number; * is any). Null: as the repository or the forge says. Empty: none.',
  },
  failFastStatuses: {
    kind: 'statuses',
    maxItems: 100,
    text: 'Checks that are not required, and whose failure fails a candidate at once, while a required check that sums them up still runs: names or patterns like "test (*)", or { name, app }. None of them has to pass.',
  },
  probeStatuses: {
    kind: 'names',
    maxItems: 100,
    text: 'Required checks of CI outside that can run the tests of a question alone. To find out who is to blame, they are asked only about the tests that failed, on branches with probe/ after the prefix, and report as "NAME (probe)". Checks of the built-in runner that name their framework (selects) need no entry. Needs confirmFailures AUTO.',
  },
  freezes: {
    kind: 'freezes',
    maxItems: MAX_FREEZES,
    text: 'Times in which nothing lands, while tests go on. Urgent pull requests land if the freeze allows them.',
  },
  allowedBotSubmitters: {
    kind: 'names',
    maxItems: 100,
    text: 'Logins of the bots whose comments and labels may submit pull requests.',
  },
  commentsEnabled: boolean('Keep a comment on each pull request that says where it stands.'),
  commandsEnabled: boolean('Obey commands in comments.'),
  statusCheckEnabled: boolean('Show the state in the queue as a check on the head of the pull request.'),
  extensionEnabled: boolean('Let the browser extension act on this queue.'),
  labelCommandsEnabled: boolean('Setting the enqueueing label submits, removing it cancels.'),
  stateLabelsEnabled: boolean('Show the state in the queue as a label.'),
  enqueueingLabel: { kind: 'text', maxLength: 100, text: 'The label that submits a pull request.' },
};

export const SETTING_NAMES = Object.keys(SETTING_SPECS) as readonly SettingName[];

export const DEFAULT_SETTINGS: QueueSettings = {
  mode: 'SINGLE',
  concurrency: 5,
  bisectionConcurrency: null,
  testingTimeoutMinutes: null,
  notReadyTimeoutHours: 0,
  priorityAgeingHours: 0,
  maxEntriesPerActor: 0,
  pendingFailureDepth: 0,
  canOptimisticallyMerge: false,
  batch: false,
  batchingMaxWaitTimeMinutes: 5,
  batchingMinSize: 4,
  batchingRules: [],
  optimizationMode: 'OFF',
  runCost: 2,
  maxGroupSize: 64,
  directMergeMode: 'OFF',
  mergeMethod: 'SQUASH',
  landingMode: 'PUSH',
  exactLanding: false,
  reusePassedTrees: true,
  honorQuarantine: 'SHADOW',
  confirmFailures: 'AUTO',
  refuseUnchanged: false,
  newFlakes: 'TELL',
  createPrsForTestingBranches: false,
  testBranchConstructionMode: 'RENAME_TEMP_BRANCH',
  requiredStatuses: null,
  failFastStatuses: [],
  probeStatuses: [],
  freezes: [],
  allowedBotSubmitters: [],
  commentsEnabled: true,
  commandsEnabled: true,
  statusCheckEnabled: true,
  extensionEnabled: true,
  labelCommandsEnabled: true,
  stateLabelsEnabled: false,
  enqueueingLabel: 'trunk-merge-queue-submit',
};

export interface SettingProblem {
  readonly name: string;
  readonly message: string;
}

/** The slug of an app, the login of an account, or a number of one. */
const APP = /^(?:\*|[A-Za-z0-9][A-Za-z0-9._-]{0,98})$/;

const STATE_LABELS = [
  'not-ready',
  'queued',
  'testing',
  'tests-passed',
  'pending-failure',
  'failed',
  'cancelled',
  'merged',
];

/** Lists every problem of the given settings. An empty list means that all of them can be applied. */
// SPEC S2
export function checkSettings(changes: Readonly<Record<string, unknown>>): SettingProblem[] {
  const problems: SettingProblem[] = [];
  for (const [name, value] of Object.entries(changes)) {
    const spec: SettingSpec | undefined = Object.hasOwn(SETTING_SPECS, name)
      ? SETTING_SPECS[name as SettingName]
      : undefined;
    const message = spec === undefined ? 'is not a setting' : problemOf(spec, value);
    if (message !== undefined) problems.push({ name, message });
  }
  const label = changes.enqueueingLabel;
  if (
    typeof label === 'string' &&
    STATE_LABELS.some((state) => label === `trunk-${state}` || label === `sluice-${state}`)
  ) {
    problems.push({ name: 'enqueueingLabel', message: 'is the name of a state label' });
  }
  return problems;
}

function problemOf(spec: SettingSpec, value: unknown): string | undefined {
  if (value === null && 'nullable' in spec) return undefined;
  switch (spec.kind) {
    case 'integer':
      return Number.isInteger(value) && (value as number) >= spec.min && (value as number) <= spec.max
        ? undefined
        : `must be a whole number from ${spec.min} to ${spec.max}`;
    case 'number':
      return typeof value === 'number' && value >= spec.min && value <= spec.max
        ? undefined
        : `must be a number from ${spec.min} to ${spec.max}`;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return spec.values.includes(value as string) ? undefined : `must be one of ${spec.values.join(', ')}`;
    case 'text':
      return isName(value, spec.maxLength) ? undefined : `must be a text of 1 to ${spec.maxLength} characters`;
    case 'names':
      return isNameList(value, spec.maxItems)
        ? undefined
        : `must be a list of at most ${spec.maxItems} different names`;
    case 'statuses':
      return isStatusList(value, spec.maxItems)
        ? undefined
        : `must be a list of at most ${spec.maxItems} different names, or { name, app } where one app must report it`;
    case 'batchingRules':
      return areBatchingRules(value, spec.maxItems) ? undefined : BATCHING_RULES_SENTENCE;
    case 'freezes':
      return problemOfFreezes(value);
  }
}

const BATCHING_RULES_SENTENCE =
  'must be a list of at most 100 rules { targetPattern, policy: "ISOLATE" }, a pattern being a target or a prefix followed by one *';

function isName(value: unknown, maxLength: number): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= maxLength && value.trim() === value;
}

function isNameList(value: unknown, maxItems: number): boolean {
  return (
    Array.isArray(value) &&
    value.length <= maxItems &&
    value.every((name) => isName(name, 255)) &&
    new Set(value).size === value.length
  );
}

function isStatusList(value: unknown, maxItems: number): boolean {
  return Array.isArray(value) && value.every(isStatus) && isNameList(value.map(nameOf), maxItems);
}

function isStatus(value: unknown): value is RequiredStatus {
  if (typeof value === 'string') return true;
  if (typeof value !== 'object' || value === null) return false;
  const { name, app } = value as Partial<Record<'name' | 'app', unknown>>;
  return isName(name, 255) && typeof app === 'string' && APP.test(app);
}

function areBatchingRules(value: unknown, maxItems: number): boolean {
  return Array.isArray(value) && value.length <= maxItems && value.every(isBatchingRule);
}

function isBatchingRule(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { targetPattern, policy } = value as Partial<Record<keyof BatchingRule, unknown>>;
  if (policy !== 'ISOLATE' || !isName(targetPattern, 1000)) return false;
  const star = targetPattern.indexOf('*');
  return star === -1 || (star > 0 && star === targetPattern.length - 1);
}
