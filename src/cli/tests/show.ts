import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { listTestRuns } from '../../contract/test-history.ts';
import { addExamples } from '../core/arguments.ts';
import { type Context, withContext } from '../core/context.ts';
import { openPage, WEB_TEXT } from '../core/web.ts';
import { formatDetails } from './format-test.ts';
import { chooseScope, findTestId, type ScopeOptions, type TestScope, testCommand } from './scope.ts';
import { countDays, dayOf, formatSparkline, isUnicodeTerminal } from './sparkline.ts';

type Run = Static<typeof listTestRuns.reply>['test_runs'][number];

const DAYS = 30;
const DAY_MS = 86_400_000;
/** 100 runs each: the sparkline is worth a few requests, not hundreds. */
const MAX_PAGES = 20;

export function defineShow(tests: Command): void {
  const command = testCommand(
    tests,
    'show',
    'Show a test: its status and why, its quarantine, what its monitors say, how it fails, and its last 30 days.',
  )
    .option('--web', WEB_TEXT)
    .action(
      withContext(async (context, words: string, options: ScopeOptions & { readonly web?: true }) => {
        const scope = await chooseScope(context, options);
        const reply = await context.call('getTestDetails', {
          ...scope,
          test_id: await findTestId(context, scope, words),
        });
        if (options.web) return openPage(reply.test.html_url);
        // Only for people: --json prints the server's answer, and `tests runs` lists the runs.
        const history = context.isJson ? '' : await formatHistory(context, scope, reply.test.id);
        context.show(reply, () => `${formatDetails(reply.test)}\n${history}`);
      }),
    );
  addExamples(command, [
    'sluice tests show d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
    'sluice tests show "retries on a closed connection" --repo github.com/acme/app',
  ]);
}

async function formatHistory(context: Context, scope: TestScope, testId: string): Promise<string> {
  const lastDayAt = dayOf(Date.now());
  const { runs, isAll } = await readRuns(context, scope, { testId, sinceAt: lastDayAt - (DAYS - 1) * DAY_MS });
  const days = countDays(runs, { days: DAYS, lastDayAt });
  const total = days.reduce((sum, { passes, failures }) => sum + passes + failures, 0);
  if (total === 0) return `It has not run in the last ${DAYS} days; where it was skipped does not count.\n`;
  const failed = days.reduce((sum, { failures }) => sum + failures, 0);
  const what = isAll ? `Last ${DAYS} days` : `Its last ${runs.length} runs`;
  const head = `${what}, a column a day: ${total} ${total === 1 ? 'run' : 'runs'}, ${failed} failed\n`;
  return head + formatSparkline(days, { lastDayAt, isUnicode: isUnicodeTerminal(process.env) });
}

async function readRuns(
  context: Context,
  scope: TestScope,
  { testId, sinceAt }: { readonly testId: string; readonly sinceAt: number },
): Promise<{ readonly runs: readonly Run[]; readonly isAll: boolean }> {
  const runs: Run[] = [];
  let token = '';
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const page_query = { page_size: 100, page_token: token };
    const { test_runs, page } = await context.call('listTestRuns', { ...scope, test_id: testId, page_query });
    runs.push(...test_runs);
    token = page.next_page_token;
    const oldest = test_runs.at(-1)?.started_at;
    if (token === '' || oldest === undefined || Date.parse(oldest) < sinceAt) return { runs, isAll: true };
  }
  return { runs, isAll: false };
}
