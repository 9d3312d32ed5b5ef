import { row } from '../core/command.ts';
import { openPage, WEB_TEXT } from '../core/web.ts';
import { type DetailsView, formatDetails } from './format-test.ts';
import { TEST } from './scope.ts';
import { formatSparkline, isUnicodeTerminal } from './sparkline.ts';

export const show = row({
  on: TEST,
  text: 'Show a test: its status and why, its quarantine, what its monitors say, how it fails, and its last 30 days.',
  takes: { '--web': WEB_TEXT },
  examples: [
    'sluice tests show d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
    'sluice tests show "retries on a closed connection" --repo github.com/acme/app',
  ],
  run: async (context, { web, ...test }) => {
    const reply = await context.call('getTestDetails', test);
    if (web) return openPage(reply.test.html_url);
    context.show(reply, () => `${formatDetails(reply.test)}\n${formatHistory(reply.test)}`);
  },
});

function formatHistory({ daily }: DetailsView): string {
  const days = daily.runs.length;
  const [total, failed] = [daily.runs, daily.failures].map((counts) => counts.reduce((sum, each) => sum + each, 0));
  if (total === 0) return `It has not run in the last ${days} days; where it was skipped does not count.\n`;
  const head = `Last ${days} days, a column a day: ${total} ${total === 1 ? 'run' : 'runs'}, ${failed} failed\n`;
  return head + formatSparkline(daily, isUnicodeTerminal(process.env));
}
