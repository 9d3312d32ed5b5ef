import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { runCommand, say, toNumber } from '../helpers/command.ts';
import { createDatabase } from '../helpers/postgres.ts';
import type { StormReport } from './report.ts';
import { runStorm } from './storm.ts';

const HELP = `npm run storm -- [options]      kills real servers again and again while pull requests land

  --kills N       how often (200)
  --prs N         how many pull requests (50)
  --seed S        chooses settings, pull requests and moments; printed, so that a run can be tried again (by chance)
  --postgres      two servers on one PostgreSQL, taking turns to die; otherwise one on the embedded store
  --upgrade       the same on PostgreSQL, with servers of two versions that are stopped or killed, and a CI that reports
  --help          this

Afterwards every promise about what landed, what was removed and what is left behind is checked. The exit code is 1 when
one is broken. Unlike a simulation, the same seed makes the same choices, not the same timing.
`;

const options = {
  kills: { type: 'string', default: '200' },
  prs: { type: 'string', default: '50' },
  seed: { type: 'string' },
  postgres: { type: 'boolean', default: false },
  upgrade: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

async function run({ seed, kills, prs, isPostgres, isUpgrade }: ReturnType<typeof parse>): Promise<number> {
  const kind = isUpgrade ? ' --upgrade' : isPostgres ? ' --postgres' : '';
  const command = `npm run storm -- --kills ${kills} --prs ${prs} --seed ${seed}${kind}`;
  say(`${command}\n`);
  const databaseUrl = isPostgres || isUpgrade ? await createDatabase() : undefined;
  const report = await runStorm({ seed, kills, prs, databaseUrl, isUpgrade, onProgress: (text) => say(`${text}\n`) });
  summarize(report);
  return report.violations.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options });
  return {
    kills: toNumber('kills', values.kills),
    prs: toNumber('prs', values.prs),
    seed: values.seed ?? String(randomInt(1_000_000)),
    isPostgres: values.postgres,
    isUpgrade: values.upgrade,
    isHelp: values.help,
  };
}

function summarize({ violations, kills, states, landedKinds, settledMs, totalMs, warnings }: StormReport): void {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const ready = kills.readyMs.toSorted((a, b) => a - b);
  const median = ready[Math.floor(ready.length / 2)] ?? 0;
  say(`\nended:    ${describe(states)}\nlanded:   ${describe(landedKinds)}\nkilled:   ${describe(kills.hits)}\n`);
  say(`ready:    ${seconds(median)} after a start (half of them sooner, all within ${seconds(ready.at(-1) ?? 0)})\n`);
  say(`settled:  ${seconds(settledMs)} after the last start; all in ${seconds(totalMs)}\n`);
  for (const [text, count] of Object.entries(warnings)) say(`warned:   ${count} x ${text}\n`);
  for (const text of violations) say(`VIOLATED: ${text}\n`);
  say(violations.length === 0 ? 'Nothing was lost.\n' : `${violations.length} promises were broken.\n`);
}

function describe(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}
