import { formatRepo } from '../core/arguments.ts';
import { commandFor, type Row } from '../core/command.ts';
import { formatFacts } from '../core/table.ts';
import { clean, formatTime, paint } from '../core/terminal.ts';
import { exec } from './exec.ts';
import { formatEndReason, nameRun, RUN_TAKES, type RunInfo } from './find-run.ts';

const info = commandFor(
  'getTestRunInfo',
  {
    text: 'Show what the run of this CI job tests, and whether its result is still wanted.',
    takes: RUN_TAKES,
    examples: [
      'sluice ci info',
      'sluice ci info --json isWanted,prNumbers',
      'sluice ci info --sha "$(git rev-parse HEAD)"',
    ],
    show: formatInfo,
  },
  (given, context) => nameRun(context, given),
);

// SPEC W75
function formatInfo(run: RunInfo): string {
  const { prNumbers, dependentPrs, endedAt } = run;
  const numbers = (list: readonly number[]) => list.map((number) => `#${number}`).join(', ');
  const beneath = dependentPrs.length === 0 ? '' : ` on top of ${numbers(dependentPrs)}`;
  const tested = prNumbers.length === 0 ? `${clean(run.targetBranch)} itself` : numbers(prNumbers);
  const when = endedAt === undefined ? '' : `, ended ${formatTime(endedAt)}`;
  return formatFacts([
    ['Queue', clean(`${formatRepo(run.repo)} ${run.targetBranch}`)],
    ['Tests', `${tested}${beneath}`],
    ['Run', run.testRunId],
    ['Commit', run.testBranchSha || 'not built yet'],
    ['Base', run.baseSha],
    ['Attempt', String(run.attempt)],
    ...(run.question === undefined ? [] : [['Asks', asksOf(run.question)] as [string, string]]),
    ['State', `${run.status}${when}`],
    ['Wanted', run.isWanted ? paint('green', 'yes') : `${paint('red', 'no')}: ${clean(formatEndReason(run))}`],
  ]);
}

const MAX_ASKED = 10;

/** A probe answers these tests alone. */
function asksOf(tests: NonNullable<RunInfo['question']>): string {
  const names = tests.slice(0, MAX_ASKED).map(({ name }) => name.slice(0, 200));
  const more = tests.length > MAX_ASKED ? ` and ${tests.length - MAX_ASKED} more` : '';
  return `only ${clean(names.join(', '))}${more}`;
}

export const CI: Row = {
  examples: ['sluice ci exec -- npm test', 'sluice ci info'],
  rows: { exec, info },
};
