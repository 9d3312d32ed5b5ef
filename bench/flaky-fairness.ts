import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { startPostgres } from '../test/helpers/postgres.ts';
import { testOf } from './lib/ci-reports.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { createTestsWorld, type TestsServer } from './lib/tests-world.ts';

const TESTS = 400_000;
const GOAL_MS = 3_000;
const PAUSE_MS = 200;

/**
 * One organization uploads a report of 400,000 new tests. During its processing another organization uploads reports of
 * one test. Measures their longest processing time.
 */
export async function measureFairness(of: {
  readonly engine: 'sqlite' | 'postgres';
  readonly tests?: number | undefined;
}): Promise<void> {
  const { engine, tests = TESTS } = of;
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  const world = createTestsWorld(await postgres?.createDatabase());
  try {
    progress(`flaky fairness: a report of ${tests} tests into ${engine}`);
    const large = reportOf(tests);
    const small = await world.start();
    const crowd = await small.asOrganization('crowd');
    await sendOne(small, 0);
    const begun = performance.now();
    await crowd.upload({ sha: 'c'.repeat(40), branch: 'main', job: 'unit', body: large });
    let isBusy = true;
    const processed = crowd.untilProcessed().finally(() => {
      isBusy = false;
    });
    const waits: number[] = [];
    for (let no = 1; isBusy; no += 1) {
      waits.push(await sendOne(small, no));
      await sleep(PAUSE_MS);
    }
    await processed;
    const seconds = (performance.now() - begun) / 1_000;
    const { peak } = small.child.memory();
    await small.child.stop();
    const name = `flaky.fairness.${engine}`;
    printFigure({ name, value: Math.max(...waits), unit: 'ms', goal: GOAL_MS });
    printFigure({ name: `${name}.median`, value: median(waits), unit: 'ms' });
    printFigure({ name: `${name}.crowd`, value: (seconds * 1e6) / tests, unit: 'µs/test' });
    printFigure({ name: `${name}.memory`, value: peak / 1e6, unit: 'MB' });
  } finally {
    world.remove();
  }
}

/** Milliseconds until it is processed. */
async function sendOne(server: TestsServer, no: number): Promise<number> {
  const begun = performance.now();
  await server.upload({ sha: no.toString(16).padStart(40, 'a'), branch: 'main', job: 'unit', body: ONE });
  await server.untilProcessed();
  return performance.now() - begun;
}

function reportOf(tests: number): Uint8Array {
  const cases = Array.from({ length: tests }, (_, index) => {
    const { suite, name, file } = testOf(index);
    return `<testcase name="${name}" classname="${suite}" file="${file}" time="0.1"/>\n`;
  });
  return gzipSync(`<testsuites><testsuite name="all">${cases.join('')}</testsuite></testsuites>`, { level: 4 });
}

const ONE = reportOf(1);
