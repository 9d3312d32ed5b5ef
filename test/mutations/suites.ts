/** The commands of a suite as arguments of `node`, one process each. The first failure detects the fault. */
const SUITES = {
  scenario: [stories()],
  property: [inOneProcess('src/engine/any-history.test.ts')],
  /** 150 seeds, most of them with troubles that make innocent entries look guilty. */
  simulation: [simulate(30_001, 70), simulate(1, 50), simulate(10_001, 30)],
  /** Ports on real git. */
  contract: [test('test/contract/forge-plain.test.ts')],
  landing: [test('src/forge/candidate/land.test.ts')],
  audit: [test('src/app/upkeep/audit-line.test.ts'), test('src/app/upkeep/audit.test.ts')],
  auditing: [test('src/app/upkeep/any-audit-line.test.ts')],
  unit: [inOneProcess('src/engine/line/test-run.test.ts')],
  /** Real engine, simulated outcomes: needs, and an outage of CI. */
  policy: [test('src/policy/sluice.test.ts'), test('src/policy/noise.test.ts')],
  /** Commands and results as programs meet them, and the words for people in every situation. */
  results: [
    test('src/app/queue/any-result.test.ts'),
    test('src/words/situations.test.ts'),
    test('test/e2e/cli-land.test.ts'),
    test('test/e2e/agent.test.ts'),
  ],
  effects: [test('src/app/effects/effects.test.ts')],
} as const satisfies Record<string, readonly (readonly string[])[]>;

export type SuiteName = keyof typeof SUITES;

export const SUITE_NAMES = Object.keys(SUITES) as readonly SuiteName[];

export function isSuite(name: string): name is SuiteName {
  return Object.hasOwn(SUITES, name);
}

/** Of all stories, those that cite the rule run first. Most faults end there, within a second. */
export function commandsOf(suite: SuiteName, rule?: string): readonly (readonly string[])[] {
  const cited = suite === 'scenario' && rule !== undefined ? [stories(`--test-name-pattern=\\[${rule}\\]`)] : [];
  return [...cited, ...SUITES[suite]];
}

function stories(...options: readonly string[]): readonly string[] {
  return inOneProcess(...options, 'test/scenario/*.test.ts', 'src/engine/**/freeze.test.ts');
}

/** Without the bundle and the processes of `npm test`. */
function inOneProcess(...words: readonly string[]): readonly string[] {
  return ['--test', '--test-isolation=none', '--test-reporter=tap', ...words];
}

function test(path: string): readonly string[] {
  return ['scripts/test.mjs', '--only', path];
}

function simulate(from: number, seeds: number): readonly string[] {
  const count = ['--from', String(from), '--seeds', String(seeds)];
  return ['scripts/run.mjs', 'test/simulation/main.ts', ...count, '--jobs', '1', '--bail'];
}
