import { parseArgs } from 'node:util';
import { Prng } from '../src/lib/prng.ts';
import { TEST_ORDERS } from '../src/storage/tests.ts';
import { startPostgres } from '../test/helpers/postgres.ts';
import { measureMetrics } from './events-metrics.ts';
import { measureStreams } from './events-streams.ts';
import { measureWebhooks } from './events-webhooks.ts';
import { p95, printFigure, progress } from './lib/figure.ts';
import { fillTests, teamOf } from './lib/fill-tests.ts';
import { createTestsWorld, type TestsServer } from './lib/tests-world.ts';

const OPTIONS = {
  only: { type: 'string', multiple: true },
  runs: { type: 'string' },
  tests: { type: 'string' },
  postgres: { type: 'boolean', default: false },
} as const;

interface Sizes {
  readonly runs: number | undefined;
  readonly tests: number | undefined;
  readonly isPostgres: boolean;
}

/** One question each about the history of queues and tests. */
const QUESTIONS: Readonly<Record<string, (sizes: Sizes) => Promise<void>>> = {
  'list-tests': measureListTests,
  streams: measureStreams,
  webhooks: measureWebhooks,
  metrics: measureMetrics,
};

/** `--only list-tests` answers one question; `--runs 100000 --tests 20000` makes it faster. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const asked = (values.only ?? []).flatMap((names) => names.split(','));
  const unknown = asked.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no events ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  const sizes = { runs: numberOf(values.runs), tests: numberOf(values.tests), isPostgres: values.postgres };
  for (const name of asked.length > 0 ? asked : Object.keys(QUESTIONS)) await QUESTIONS[name]?.(sizes);
}

function numberOf(given: string | undefined): number | undefined {
  return given === undefined ? undefined : Number(given);
}

const TEAMS = 50;
const QUARANTINED = 1_000;
const ASKED = 40;
const WARM_UP = 5;
const GOAL_MS = 50;

/** First pages in every order and with every filter, as people ask for them, and later pages. */
function questionsOf(random: Prng): readonly object[] {
  const owner = teamOf(random.integer(TEAMS));
  const filters = [
    {},
    { owner },
    { status: 'FLAKY' },
    { status: 'HEALTHY' },
    { quarantined: true },
    { quarantined: false },
    { owner, status: 'FLAKY' },
  ];
  return TEST_ORDERS.flatMap((sort) => filters.map((filter) => ({ sort, ...filter })));
}

async function measureListTests({ runs = 10_000_000, tests = 200_000, isPostgres }: Sizes): Promise<void> {
  const engine = isPostgres ? 'postgres' : 'sqlite';
  const world = createTestsWorld(isPostgres ? await (await startPostgres()).createDatabase() : undefined);
  try {
    // The first start creates the organization.
    await (await world.start()).child.stop();
    await world.useStore((store) => fillTests(store, { runs, tests, teams: TEAMS, quarantined: QUARANTINED }));
    const server = await world.start();
    const random = new Prng('list-tests');
    const filtered = await ask(server, () => questionsOf(random));
    const searched = await ask(server, () => [{ text: `of kind ${random.integer(tests)}` }, { text: 'kind' }]);
    await server.child.stop();
    const figure = { unit: 'ms', goal: GOAL_MS };
    printFigure({ name: `events.list-tests.${engine}.p95`, value: p95(filtered), ...figure });
    printFigure({ name: `events.list-tests.${engine}.text.p95`, value: p95(searched), ...figure });
  } finally {
    world.remove();
  }
}

async function ask(server: TestsServer, questions: () => readonly object[]): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP + ASKED; round += 1) {
    if (round % 10 === 0) progress(`events list-tests: round ${round}`);
    for (const question of questions()) {
      const begun = performance.now();
      await server.ask('list-tests', { ...question, page_query: { page_size: 25 } });
      if (round >= WARM_UP) times.push(performance.now() - begun);
    }
  }
  return times;
}
