import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runCommand, say, toNumber } from '../helpers/command.ts';
import { createDatabase } from '../helpers/postgres.ts';
import type { StormReport } from './report.ts';
import { runSelects } from './selects/main.ts';
import { runStorm } from './storm.ts';
import { PROJECTS, runSuites } from './suites/main.ts';

const HELP = `npm run storm -- [options]      kills real servers again and again while pull requests land

  --kills N       how often (200)
  --prs N         how many pull requests (50; with --suites 24 for each project and mode)
  --seed S        chooses settings, pull requests and moments; printed, so that a run can be tried again (by chance)
  --postgres      two servers on one PostgreSQL, taking turns to die; otherwise one on the embedded store
  --upgrade       the same on PostgreSQL, with servers of two versions that are stopped or killed, and a CI that reports
  --suites        real test suites with flaky tests instead, fetched by npm, go and pip, and no kills: who is removed?
  --selects       a pytest suite of 200 cases instead, and no kills: how many of them run with \`selects\` (16 pull requests)
  --only NAME     with --suites: npm, go or pytest alone
  --quarantine    with --suites: flaky tests are quarantined automatically, and the queue honors it
  --strict        with --suites: a removed pull request that broke nothing is a broken promise too
  --help          this

Afterwards every promise about what landed, what was removed and what is left behind is checked. The exit code is 1 when
one is broken. Unlike a simulation, the same seed makes the same choices, not the same timing.
`;

/** Innocents are removed until the engine confirms each removal. Then this becomes true. */
const STRICT = true;

const options = {
  kills: { type: 'string', default: '200' },
  prs: { type: 'string' },
  seed: { type: 'string' },
  postgres: { type: 'boolean', default: false },
  upgrade: { type: 'boolean', default: false },
  suites: { type: 'boolean', default: false },
  selects: { type: 'boolean', default: false },
  only: { type: 'string' },
  quarantine: { type: 'boolean', default: false },
  strict: { type: 'boolean', default: STRICT },
  help: { type: 'boolean', default: false },
} as const;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

async function run(values: ReturnType<typeof parse>): Promise<number> {
  if (values.isSelecting) return conclude(await runSelects(values));
  return values.isSuites ? runTheSuites(values) : runTheKills(values);
}

async function runTheSuites(values: ReturnType<typeof parse>): Promise<number> {
  const { seed, prs, only, isQuarantining, isStrict } = values;
  const flags = [only && `--only ${only}`, isQuarantining && '--quarantine', isStrict && '--strict'];
  say(`npm run storm -- ${['--suites', '--prs', prs, '--seed', seed, ...flags].filter(Boolean).join(' ')}\n\n`);
  return conclude(await runSuites({ seed, prs, only, isQuarantining, isStrict }));
}

async function runTheKills({ seed, kills, prs, isPostgres, isUpgrade }: ReturnType<typeof parse>): Promise<number> {
  const kind = isUpgrade ? ' --upgrade' : isPostgres ? ' --postgres' : '';
  const command = `npm run storm -- --kills ${kills} --prs ${prs} --seed ${seed}${kind}`;
  say(`${command}\n`);
  const databaseUrl = isPostgres || isUpgrade ? await createDatabase() : undefined;
  const report = await runStorm({ seed, kills, prs, databaseUrl, isUpgrade, onProgress: (text) => say(`${text}\n`) });
  summarize(report);
  return conclude(report.violations);
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options });
  return {
    kills: toNumber('kills', values.kills),
    prs: toNumber('prs', values.prs ?? (values.selects ? '16' : values.suites ? '24' : '50')),
    seed: values.seed ?? String(randomInt(1_000_000)),
    isPostgres: values.postgres,
    isUpgrade: values.upgrade,
    isSuites: values.suites,
    isSelecting: values.selects,
    only: toProject(values.only),
    isQuarantining: values.quarantine,
    isStrict: values.strict,
    isHelp: values.help,
  };
}

function toProject(name: string | undefined): string | undefined {
  if (name !== undefined && !Object.hasOwn(PROJECTS, name))
    throw new TypeError(`--only must be one of ${Object.keys(PROJECTS).join(', ')}`);
  return name;
}

function summarize({ kills, states, landedKinds, settledMs, totalMs, warnings }: StormReport): void {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const ready = kills.readyMs.toSorted((a, b) => a - b);
  const median = ready[Math.floor(ready.length / 2)] ?? 0;
  say(`\nended:    ${describe(states)}\nlanded:   ${describe(landedKinds)}\nkilled:   ${describe(kills.hits)}\n`);
  say(`ready:    ${seconds(median)} after a start (half of them sooner, all within ${seconds(ready.at(-1) ?? 0)})\n`);
  say(`settled:  ${seconds(settledMs)} after the last start; all in ${seconds(totalMs)}\n`);
  for (const [text, count] of Object.entries(warnings)) say(`warned:   ${count} x ${text}\n`);
}

/** Prints the violations, and returns the exit code. */
function conclude(violations: readonly string[]): number {
  for (const text of violations) say(`VIOLATED: ${text}\n`);
  say(violations.length === 0 ? 'Nothing was lost.\n' : `${violations.length} promises were broken.\n`);
  return violations.length === 0 ? 0 : 1;
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
