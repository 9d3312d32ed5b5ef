/** The commands of a suite as arguments of `node`, one process each. The first failure detects the fault. */
export const SUITES = {
  scenario: [test('test/scenario')],
  property: [test('src/engine/any-history.test.ts')],
  /** 150 seeds, most of them with troubles that make innocent entries look guilty. */
  simulation: [simulate(30_001, 70), simulate(1, 50), simulate(10_001, 30)],
  /** Ports on real git. */
  contract: [test('test/contract/forge-plain.test.ts')],
  landing: [test('src/forge/candidate/land.test.ts')],
  audit: [test('src/app/upkeep/audit-line.test.ts'), test('src/app/upkeep/audit.test.ts')],
  auditing: [test('src/app/upkeep/any-audit-line.test.ts')],
  unit: [test('src/engine/line/test-run.test.ts')],
  effects: [test('src/app/effects/effects.test.ts')],
} as const satisfies Record<string, readonly (readonly string[])[]>;

export type SuiteName = keyof typeof SUITES;

function test(path: string): readonly string[] {
  return ['scripts/test.mjs', '--only', path];
}

function simulate(from: number, seeds: number): readonly string[] {
  const count = ['--from', String(from), '--seeds', String(seeds)];
  return ['scripts/run.mjs', 'test/simulation/main.ts', ...count, '--jobs', '1', '--bail'];
}
