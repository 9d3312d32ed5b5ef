import { Prng } from '../src/lib/prng.ts';
import { TESTS, testOf } from './lib/ci-reports.ts';
import { printFigure, progress } from './lib/figure.ts';
import { fillTests, testIdOf } from './lib/fill-tests.ts';
import { load, type Request } from './lib/load.ts';
import { createTestsWorld, SCOPE } from './lib/tests-world.ts';

const QUARANTINED = 10_000;
const IDS = 5;
const CONNECTIONS = 64;
const AMOUNT = 20_000;
const GOAL_PER_SECOND = 1_000;
const REQUESTS = 500;

/** The request of an uploader after failures: which of these five tests are quarantined. */
export async function measureLookup(): Promise<void> {
  progress(`flaky lookup: ${QUARANTINED} of ${TESTS} tests quarantined`);
  const world = createTestsWorld();
  try {
    await (await world.start()).child.stop();
    await world.useStore((store) => fillTests(store, { runs: 0, quarantined: QUARANTINED }));
    const { child } = await world.start();
    const of = { requests: makeRequests(), connections: CONNECTIONS };
    await load(child.url, { ...of, amount: AMOUNT / 4 });
    const { requestsPerSecond, p99Ms } = await load(child.url, { ...of, amount: AMOUNT });
    await child.stop();
    // A goal is an upper limit: a thousand a second are 1 ms each.
    const value = 1_000 / requestsPerSecond;
    printFigure({ name: 'flaky.lookup', value, unit: 'ms/lookup', goal: 1_000 / GOAL_PER_SECOND });
    printFigure({ name: 'flaky.lookup.rate', value: requestsPerSecond, unit: 'lookups/s' });
    printFigure({ name: 'flaky.lookup.p99', value: p99Ms, unit: 'ms' });
  } finally {
    world.remove();
  }
}

function makeRequests(): readonly Request[] {
  const random = new Prng('flaky lookup');
  return Array.from({ length: REQUESTS }, () => {
    const testIdentifiers = Array.from({ length: IDS }, () => identifierOf(random.integer(TESTS)));
    const body = JSON.stringify({ repo: SCOPE.repo, orgUrlSlug: SCOPE.org_url_slug, testIdentifiers });
    return { method: 'POST', path: '/v1/metrics/getQuarantineConfig', body };
  });
}

function identifierOf(index: number): object {
  const { suite, name, file } = testOf(index);
  return { id: testIdOf(index), name, parentName: suite, className: suite, file, variant: '' };
}
