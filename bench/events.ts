import { parseArgs } from 'node:util';
import { present } from '../src/lib/present.ts';
import { Prng } from '../src/lib/prng.ts';
import { TEST_ORDERS } from '../src/storage/tests.ts';
import { startPostgres } from '../test/helpers/postgres.ts';
import { measureCatchUp } from './events-catch-up.ts';
import { measureMetrics } from './events-metrics.ts';
import { measureStreams } from './events-streams.ts';
import { measureWebhooks } from './events-webhooks.ts';
import { p95, printFigure, progress, round } from './lib/figure.ts';
import { fillTests, teamOf } from './lib/fill-tests.ts';
import { createTestsWorld, type TestsServer } from './lib/tests-world.ts';

const OPTIONS = {
  only: { type: 'string', multiple: true },
  runs: { type: 'string' },
  tests: { type: 'string' },
  rate: { type: 'string' },
  postgres: { type: 'boolean', default: false },
} as const;

interface Sizes {
  readonly runs: number | undefined;
  readonly tests: number | undefined;
  readonly rate: number | undefined;
  readonly isPostgres: boolean;
}

/** One question each about the history of queues and tests. */
const QUESTIONS: Readonly<Record<string, (sizes: Sizes) => Promise<void>>> = {
  'list-tests': measureListTests,
  streams: measureStreams,
  webhooks: measureWebhooks,
  'catch-up': measureCatchUp,
  metrics: measureMetrics,
};

/** `--only list-tests` answers one question; `--runs 100000 --tests 20000` makes it faster, `--rate 40` has fewer events a second. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  const asked = (values.only ?? []).flatMap((names) => names.split(','));
  const unknown = asked.find((name) => !Object.hasOwn(QUESTIONS, name));
  if (unknown !== undefined)
    throw new Error(`There is no events ${unknown}; there are ${Object.keys(QUESTIONS).join(', ')}.`);
  const sizes = {
    runs: numberOf(values.runs),
    tests: numberOf(values.tests),
    rate: numberOf(values.rate),
    isPostgres: values.postgres,
  };
  for (const name of asked.length > 0 ? asked : Object.keys(QUESTIONS)) await QUESTIONS[name]?.(sizes);
}

function numberOf(given: string | undefined): number | undefined {
  return given === undefined ? undefined : Number(given);
}

const TEAMS = 50;
const QUARANTINED = 1_000;
const ASKED = 20;
const WARM_UP = 3;
const GOAL_MS = 50;

/** First pages in every order and with every filter, as people ask for them. */
function questionsOf(random: Prng, texts: readonly (string | undefined)[] = [undefined]): readonly object[] {
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
  return TEST_ORDERS.flatMap((sort) =>
    filters.flatMap((filter) => texts.map((text) => ({ sort, ...filter, ...present({ text }) }))),
  );
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
    const begun = performance.now();
    await server.ask('list-tests', { text: 'kind', page_query: { page_size: 25 } });
    progress(`events list-tests: the first search took ${round(performance.now() - begun)} ms`);
    const searched = await ask(server, () =>
      questionsOf(random, [`of kind ${random.integer(tests)}`, 'suite1', 'kind']),
    );
    await server.child.stop();
    const figure = { unit: 'ms', goal: GOAL_MS };
    const name = `events.list-tests.${engine}`;
    printFigure({ name: `${name}.p95`, value: p95(filtered.times), ...figure });
    printFigure({ name: `${name}.cpu`, value: filtered.cpuMs, unit: 'ms' });
    printFigure({ name: `${name}.text.p95`, value: p95(searched.times), ...figure });
    printFigure({ name: `${name}.text.cpu`, value: searched.cpuMs, unit: 'ms' });
  } finally {
    world.remove();
  }
}

/** The time of each answer, and the mean CPU time of the server for one. */
async function ask(server: TestsServer, questions: () => readonly object[]) {
  const times: number[] = [];
  let cpuBefore = 0;
  for (let turn = 0; turn < WARM_UP + ASKED; turn += 1) {
    if (turn % 5 === 0) progress(`events list-tests: round ${turn}`);
    if (turn === WARM_UP) cpuBefore = await server.child.cpuMicroseconds();
    for (const question of questions()) {
      const begun = performance.now();
      await server.ask('list-tests', { ...question, page_query: { page_size: 25 } });
      if (turn >= WARM_UP) times.push(performance.now() - begun);
    }
  }
  const cpuMs = ((await server.child.cpuMicroseconds()) - cpuBefore) / 1_000 / times.length;
  return { times, cpuMs };
}
