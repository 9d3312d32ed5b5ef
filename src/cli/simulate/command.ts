import { type Command, Option } from 'commander';
import { addExamples, collect } from '../core/arguments.ts';
import type { Given } from './options.ts';

type Lines = readonly (readonly [flags: string, text: string])[];

const GROUPS: Readonly<Record<string, Lines>> = {
  'The queue:': [['--slots <number>', 'How many CI runs may be under way at once, in every column. (default: 5)']],
  'Pull requests that are made up (the default):': [
    ['--prs <number>', 'How many pull requests. (default: 500)'],
    ['--hours <number>', 'For how long they come, instead of how many.'],
    ['--per-hour <number>', 'How many come in an hour, at random. (default: 20)'],
    ['--at-once', 'All of them come at the same time.'],
    ['--shape <shape>', 'flat, or day: busy from nine to six, quiet at night. (default: flat)'],
    ['--ci-median <minutes>', 'Half of the CI runs take longer. (default: 10)'],
    [
      '--ci-p95 <minutes>',
      'One CI run in twenty takes longer. The same as the median makes all equal. (default: twice the median)',
    ],
    ['--failure-rate <share>', 'Pull requests that are broken. (default: 0.05)'],
    ['--break-rate <share>', 'Pull requests that break only together with an earlier one. (default: 0.01)'],
    ['--conflict-rate <share>', 'Pull requests that cannot be merged together with an earlier one. (default: 0.01)'],
    ['--need-rate <share>', 'Pull requests that fail without an earlier one. (default: 0)'],
    ['--overlap <share>', 'How often two pull requests impact a common target. Columns are then in mode=PARALLEL.'],
    [
      '--targets <number>',
      'How many targets there are, instead of --overlap; 0: everything impacts everything. (default: 0)',
    ],
    ['--targets-per-pr <number>', 'How many of them a pull request impacts. (default: 1)'],
  ],
  'Outcomes of real builds, in their order:': [
    [
      '--outcomes <file>',
      'A CSV file, also gzipped, with the columns project, median_build_seconds and outcomes (0 passed, 1 failed).',
    ],
    ['--project <name>', 'Only this project. Else all, one after the other, also counted by failure rate.'],
    ['--limit <number>', 'The first builds of each project.'],
  ],
  'A queue of yours:': [
    ['--data <folder>', 'The data folder of a stopped server, or a file that "sluice backup" wrote.'],
    ['--repo <repo>', 'The repository as host/owner/name; needed if there are several.'],
    ['--branch <branch>', 'The branch of the queue. (default: main)'],
    ['--days <number>', 'How far back, from the last event. (default: 7)'],
  ],
  'All:': [
    ['--flake-rate <share>', 'CI runs that fail without a reason. (default: 0.01; 0 with --outcomes and --data)'],
    [
      '--probe-share <share>',
      'Reports name the tests that fail, and CI can run these alone, in this share of the time of a run.',
    ],
    ['--mask-rate <share>', 'Failed runs that stop at the first failing test. Needs --probe-share. (default: 0)'],
    ['--git-seconds <seconds>', 'How long it takes to build a commit, and to land it. (default: 0)'],
    ['--window <number>', 'How many pull requests the column "window" tests at first. (default: 20)'],
    ['--window-floor <number>', 'How many it tests at least. (default: 3)'],
    ['--no-baselines', 'Leave out the columns oracle, serial and window.'],
    ['--seed <text>', 'The same seed and options give the same numbers. (default: 1)'],
    ['--json', 'Print JSON instead of a table; with names of fields (a,b), only these.'],
  ],
};

const AFTER = `
The table compares each --set with three other queues, on the same pull requests:
  oracle  knows every outcome, and runs what will land once: no queue is faster
  serial  one pull request at a time, tested on the head
  window  one line that assumes that everything passes, as Zuul does

H(p) is the entropy of the failures. If they come at random, no queue that does
not know them needs fewer CI runs per pull request. docs/simulating.md explains
every row.`;

// SPEC W42
export function defineSimulate(command: Command): void {
  command.description(
    'Play pull requests through the real queue in simulated time, and compare settings: CI runs, times to land, wrong removals. It needs no server.',
  );
  const columns = new Option(
    '--set <settings>',
    'A column with these settings, such as batch=true,batchingMinSize=8. Repeat it to compare.',
  );
  command.optionsGroup('The queue:').addOption(columns.argParser(collect));
  for (const [group, lines] of Object.entries(GROUPS)) {
    command.optionsGroup(group);
    for (const [flags, text] of lines) command.option(flags, text);
  }
  command
    // No server is asked, so --url and --token-file do not apply.
    .configureHelp({ minWidthToWrap: 20, showGlobalOptions: false })
    .addHelpText('after', AFTER)
    .action(async (_options: Given, self: Command) => {
      const { runSimulate } = await import('./simulate.ts');
      await runSimulate(self.optsWithGlobals<Given>());
    });
  addExamples(command, [
    'sluice simulate --per-hour 40 --slots 20',
    'sluice simulate --set optimizationMode=OFF --set batch=true,batchingMinSize=8',
    'sluice simulate --overlap 0.1 --set mode=SINGLE --set mode=PARALLEL',
    'sluice simulate --outcomes outcomes.csv.gz --at-once --slots 1',
    'sluice simulate --data ./data --days 7 --set concurrency=10,batch=true',
  ]);
}
