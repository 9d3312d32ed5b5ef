import { Prng } from '../src/lib/prng.ts';
import { startPostgres } from '../test/helpers/postgres.ts';
import { packedReport, SHARDS, TESTS } from './lib/ci-reports.ts';
import { p95, printFigure, progress } from './lib/figure.ts';
import { fillTests, testIdOf } from './lib/fill-tests.ts';
import { createTestsWorld, type TestsServer, type TestsWorld } from './lib/tests-world.ts';

const RUNS = { sqlite: 10_000_000, postgres: 2_000_000 } as const;
/** The factor between the two stores that are compared. */
const FEWER = 10;
const QUARANTINED = 1_000;
const ASKED = 200;
const WARM_UP = 20;
const IDLE_GOAL_MS = 50;
const BUSY_GOAL_MS = 100;
/** With ten times the executions. */
const GROWTH_GOAL = 2;

type Engine = keyof typeof RUNS;

interface Question {
  readonly operation: string;
  readonly name?: string;
  /** Its cost grows with the failures in the range or of the tests it shows. */
  readonly dependsOnFailures: boolean;
  body(random: Prng): object;
}

const page = { page_query: { page_size: 25 } };
const anyTest = (random: Prng) => ({ test_id: testIdOf(random.integer(TESTS)) });
const aFlakyTest = (random: Prng) => ({ test_id: testIdOf(random.integer(TESTS / 20) * 20) });

const QUESTIONS: readonly Question[] = [
  {
    operation: 'list-failing-tests',
    dependsOnFailures: true,
    body: () => {
      const now = Date.now();
      const iso = (at: number) => new Date(at).toISOString();
      return { start_time: iso(now - 7 * 86_400_000 + 1_000), end_time: iso(now), ...page };
    },
  },
  { operation: 'list-quarantined-tests', dependsOnFailures: false, body: () => page },
  {
    operation: 'list-unhealthy-tests',
    dependsOnFailures: true,
    body: () => ({ status: 'FLAKY', ...page }),
  },
  { operation: 'get-test-details', dependsOnFailures: false, body: anyTest },
  { operation: 'get-test-details', name: 'get-test-details.flaky', dependsOnFailures: true, body: aFlakyTest },
  { operation: 'list-test-runs', dependsOnFailures: false, body: (random) => ({ ...anyTest(random), ...page }) },
  {
    operation: 'list-test-runs',
    name: 'list-test-runs.failures',
    dependsOnFailures: true,
    body: (random) => ({ ...aFlakyTest(random), conclusion: 'FAILURE', include_failure_text: true, ...page }),
  },
  {
    operation: 'list-test-runs',
    name: 'list-test-runs.branch',
    dependsOnFailures: false,
    body: (random) => ({ ...anyTest(random), branch: 'main', ...page }),
  },
  { operation: 'list-test-events', dependsOnFailures: false, body: (random) => ({ ...anyTest(random), ...page }) },
  {
    operation: 'search-tests',
    dependsOnFailures: false,
    body: (random) => ({ query: `of kind ${random.integer(TESTS)}` }),
  },
  { operation: 'list-uploads', dependsOnFailures: false, body: () => page },
  { operation: 'list-monitors', dependsOnFailures: false, body: () => ({}) },
  { operation: 'get-settings', dependsOnFailures: false, body: () => ({}) },
];

/**
 * Every read operation over HTTP, with ten million executions stored and with one million. They take turns, so that
 * other load on the machine affects both. Then the same during ingest.
 */
export async function measureReads(of: { readonly engine: Engine; readonly runs?: number | undefined }): Promise<void> {
  const { engine, runs = RUNS[engine] } = of;
  const postgres = engine === 'postgres' ? await startPostgres() : undefined;
  const few = await createFilled(runs / FEWER, await postgres?.createDatabase());
  const many = await createFilled(runs, await postgres?.createDatabase());
  try {
    await useServer(many, async (server) => {
      const [idle, fewer] = await useServer(few, (other) => askAll([server, other]));
      printIdle(engine, idle as Answers, fewer as Answers);
      await whileIngesting(server, async () => printBusy(engine, (await askAll([server]))[0] as Answers));
    });
  } finally {
    few.remove();
    many.remove();
  }
}

async function createFilled(runs: number, databaseUrl: string | undefined): Promise<TestsWorld> {
  progress(`flaky reads: storing ${runs} runs`);
  const world = createTestsWorld(databaseUrl);
  // The first start creates the organization.
  await useServer(world, async () => undefined);
  await world.useStore((store) => fillTests(store, { runs, quarantined: QUARANTINED }));
  return world;
}

async function useServer<T>(world: TestsWorld, act: (server: TestsServer) => Promise<T>): Promise<T> {
  const server = await world.start();
  try {
    return await act(server);
  } finally {
    await server.child.stop();
  }
}

/** p95 in milliseconds by name. */
type Answers = ReadonlyMap<string, number>;

/** For each of the servers. */
async function askAll(servers: readonly TestsServer[]): Promise<readonly Answers[]> {
  const answers = servers.map(() => new Map<string, number>());
  for (const question of QUESTIONS) {
    const name = question.name ?? question.operation;
    progress(`flaky reads: ${name}`);
    const random = new Prng(name);
    const times: number[][] = servers.map(() => []);
    for (let no = 0; no < WARM_UP + ASKED; no += 1) {
      const body = question.body(random);
      for (const [index, server] of servers.entries()) {
        const begun = performance.now();
        await server.ask(question.operation, body);
        if (no >= WARM_UP) times[index]?.push(performance.now() - begun);
      }
    }
    for (const [index, own] of times.entries()) answers[index]?.set(name, p95(own));
  }
  return answers;
}

function printIdle(engine: Engine, answers: Answers, fewer: Answers): void {
  for (const question of QUESTIONS) {
    const name = question.name ?? question.operation;
    const value = answers.get(name) as number;
    printFigure({ name: `flaky.reads.${engine}.${name}.p95`, value, unit: 'ms', goal: IDLE_GOAL_MS });
    const growth = question.dependsOnFailures ? {} : { goal: GROWTH_GOAL };
    printFigure({
      name: `flaky.reads.${engine}.${name}.growth`,
      value,
      unit: 'ms',
      baseline: fewer.get(name) as number,
      ...growth,
    });
  }
}

function printBusy(engine: Engine, answers: Answers): void {
  for (const [name, value] of answers) {
    printFigure({ name: `flaky.reads.${engine}.${name}.p95_ingesting`, value, unit: 'ms', goal: BUSY_GOAL_MS });
  }
}

/** Uploads one after the other, so that ingest is always busy. */
async function whileIngesting(server: TestsServer, act: () => Promise<void>): Promise<void> {
  const random = new Prng('while ingesting');
  const reports = Array.from({ length: SHARDS }, (_, shard) => packedReport(shard, random));
  let isOver = false;
  const send = async () => {
    for (let no = 0; !isOver; no += 1) {
      const sha = (1_000_000 + Math.floor(no / SHARDS)).toString(16).padStart(40, 'b0');
      await server.upload({
        sha,
        branch: 'main',
        job: `unit-${no % SHARDS}`,
        body: reports[no % SHARDS] as Uint8Array,
      });
      while ((await server.countWaiting()) > SHARDS && !isOver) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const sending = send();
  try {
    await act();
  } finally {
    isOver = true;
    await sending;
  }
}
