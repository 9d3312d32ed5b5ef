import { parseArgs } from 'node:util';
import { runCommand, say, toNumber } from '../helpers/command.ts';
import { MUST_OCCUR } from './coverage.ts';
import { type ForgeKind, runSeeds } from './run-seeds.ts';
import type { RunReport } from './simulate.ts';
import { describeFailure, Summary } from './summary.ts';

const HELP = `npm run simulate -- [options]      runs the real queue in a simulated world, once for every seed

\`sluice simulate\` is something else: it compares what the queue costs under other settings.

A run is one or two servers on one SQLite in memory, a forge, a CI and people, all on a clock of their own. Everything that
happens by chance comes from the seed: settings, changes, faults, crashes. The invariants of test/simulation/invariants.ts
are checked at every step; in the end everything must have settled. The same seed is the same run, always. Seeds from
10001 on also draw whether quarantine is honored, and how failures are judged; most from 20001 on land by a merge API.
From 30001 on the target turns red, CI is out of order, and settings change under way: the innocent look guilty.
From 1000001 on most queues are ADAPTIVE.

With --forge github the world is real: a GitHub on this machine, over HTTP, with git behind it, and clocks that run twenty
times as fast. The same seed plans the same; what happens first may differ. A run takes about half a minute.

  --seeds N        how many seeds (1000)
  --forge KIND     model (the default) or github
  --from S         the first of them (1)
  --seed X         only this one
  --jobs J         how many threads (one for each core)
  --bail           stop after the first seed that fails
  --stack-rate R   the share of pull requests on top of another open one, from 0 to 1 (0); only in the model
  --stack-depth D  at most so many above each other (5)
  --verbose        a line for each seed
  --help           this

When a seed fails, its last events are printed, the queue as it was then, and the command that runs it again.
Put it into test/simulation/frozen-seeds.ts once its cause is found.
`;

const MAX_SHOWN = 5;
const PROGRESS_EVERY = 100;

const options = {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  seed: { type: 'string' },
  forge: { type: 'string', default: 'model' },
  jobs: { type: 'string' },
  'stack-rate': { type: 'string', default: '0' },
  'stack-depth': { type: 'string', default: '5' },
  bail: { type: 'boolean', default: false },
  verbose: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

process.exitCode = await runCommand(process.argv.slice(2), { help: HELP, parse, run });

async function run({ seeds, forge, stacks, jobs, isBailing, isVerbose }: ReturnType<typeof parse>): Promise<number> {
  const summary = new Summary(forge === 'model' ? MUST_OCCUR : []);
  await runSeeds({
    seeds,
    forge,
    stacks,
    jobs,
    isBailing,
    onReport: (report) => tell(summary, report, isVerbose),
  });
  if (seeds.length > 1) say(`\n${summary.table}\n`);
  say(`\n${summary.speed}, ${summary.failed.length} failed\n`);
  if (summary.failed.length > 0) say(`failed: ${summary.failed.map(({ seed }) => seed).join(' ')}\n`);
  return summary.failed.length === 0 ? 0 : 1;
}

function parse(args: readonly string[]) {
  const { values } = parseArgs({ args: [...args], options });
  const from = toNumber('seed', values.seed ?? values.from);
  const count = values.seed === undefined ? toNumber('seeds', values.seeds) : 1;
  const [rate, depth] = [Number(values['stack-rate']), toNumber('stack-depth', values['stack-depth'])];
  if (!(rate >= 0 && rate <= 1)) throw new TypeError('--stack-rate must be a number from 0 to 1');
  if (values.forge !== 'model' && values.forge !== 'github') throw new TypeError('--forge must be model or github');
  return {
    forge: values.forge as ForgeKind,
    seeds: Array.from({ length: count }, (_, index) => from + index),
    stacks: rate === 0 ? undefined : { rate, depth },
    jobs: values.jobs === undefined ? undefined : toNumber('jobs', values.jobs),
    isBailing: values.bail,
    isVerbose: values.verbose,
    isHelp: values.help,
  };
}

function tell(summary: Summary, report: RunReport, isVerbose: boolean): void {
  summary.add(report);
  const { seed, failure, tasks, events } = report;
  if (failure !== undefined && summary.failed.length <= MAX_SHOWN) say(`\n${describeFailure(report)}\n\n`);
  else if (failure !== undefined) say(`seed ${seed}: ${failure}\n`);
  else if (isVerbose) say(`seed ${seed}: ok, ${tasks} tasks, ${events} events\n`);
  if (!isVerbose && summary.runs % PROGRESS_EVERY === 0) say(`${summary.speed}\n`);
}
