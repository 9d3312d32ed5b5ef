import { present } from '../../lib/present.ts';
import { parseInstant } from '../core/arguments.ts';
import { choice, type Given, row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { formatTime } from '../core/terminal.ts';
import { formatName, formatTests, styleOfStatus } from './format-test.ts';
import { formatRanked, SORTS } from './ranked.ts';
import { formatMore, PAGE, pageQuery, TESTS_OF_REPO, type TestScope } from './scope.ts';

/** Options of the list of all tests. With them --quarantined narrows that list. */
const RANKED = ['sort', 'owner', 'status', 'text'] as const;
const KINDS = ['failing', 'flaky', 'broken', 'quarantined', 'review', 'name'] as const;
type Kind = (typeof KINDS)[number];
const DAY_MS = 86_400_000;
const MAX_RANGE_MS = 7 * DAY_MS;

const OPTIONS = {
  '--failing': 'Those that failed lately, most failures first.',
  '--since <when>': [
    'With --failing: since 24h (also m, d, w) ago, or an instant; at most 7 days. (default: 24h)',
    parseInstant('past'),
  ],
  '--flaky': 'Those that are flaky.',
  '--broken': 'Those that are broken.',
  '--quarantined': 'Those whose failures block nobody.',
  '--review': 'Quarantined tests that only pass now, or no longer run: end their quarantine, or fix them.',
  '--name <text>': 'Those with this in their name, class, file or suite, by name.',
  '--sort <figure>': { text: 'All tests, by a figure of the last 30 days.', choices: Object.keys(SORTS) },
  '--owner <owner>': 'All tests of this owner, such as @acme/web, by impact or --sort.',
  '--status <status>': choice('All tests of this status, by impact or --sort.', ['HEALTHY', 'FLAKY', 'BROKEN']),
  '--text <text>': 'All tests with this in their name, class, file or suite, by impact or --sort.',
  ...PAGE,
} as const;

type ListOptions = Given<typeof OPTIONS>;

export const list = row({
  on: TESTS_OF_REPO,
  text: 'List tests. Default: those that are broken, and those that are flaky.',
  takes: OPTIONS,
  examples: [
    'sluice tests list',
    'sluice tests list --failing --since 7d --repo github.com/acme/app',
    'sluice tests list --review',
    'sluice tests list --name "closed connection"',
    'sluice tests list --owner @acme/web --sort impact',
  ],
  run: async (context, { repo, org_url_slug, ...options }) => {
    const isRanked = RANKED.some((name) => options[name] !== undefined);
    await (isRanked ? listRanked : LISTS[chooseKind(options)])(context, { repo, org_url_slug }, options);
  },
});

const listRanked: List = async (context, scope, options) => {
  const other =
    KINDS.find((name) => name !== 'quarantined' && options[name] !== undefined) ?? (options.since && 'since');
  if (other !== undefined)
    throw usageError(`--${other} does not go with ${RANKED.map((name) => `--${name}`).join(', ')}.`);
  const { owner, status, text, quarantined, sort = 'impact' } = options;
  const filters = present({ owner, status, text, quarantined });
  const reply = await context.call('listTests', {
    ...scope,
    ...filters,
    sort: SORTS[sort as keyof typeof SORTS],
    page_query: pageQuery(options),
  });
  context.show(reply, () => formatRanked(reply.tests) + formatMore(reply.page));
};

function chooseKind(options: ListOptions): Kind | 'unhealthy' {
  const [kind, other] = KINDS.filter((name) => options[name] !== undefined);
  if (other !== undefined) throw usageError(`Say only one of ${KINDS.map((name) => `--${name}`).join(', ')}.`);
  if (options.since !== undefined && kind !== 'failing') throw usageError('--since goes with --failing.');
  return kind ?? 'unhealthy';
}

type List = (context: Context, scope: TestScope, options: ListOptions) => Promise<void>;

const LISTS: Readonly<Record<Kind | 'unhealthy', List>> = {
  failing: async (context, scope, options) => {
    const { start, end } = chooseRange(options.since, Date.now());
    const reply = await context.call('listFailingTests', {
      ...scope,
      start_time: new Date(start).toISOString(),
      end_time: new Date(end).toISOString(),
      page_query: pageQuery(options),
    });
    context.show(reply, () => formatTests(reply.tests, 'No test failed.') + formatMore(reply.page));
  },
  flaky: (context, scope, options) => listOfStatus(context, scope, options, 'FLAKY'),
  broken: (context, scope, options) => listOfStatus(context, scope, options, 'BROKEN'),
  unhealthy: async (context, scope, options) => {
    if (options.cursor !== undefined) throw usageError('Say with --flaky or --broken which list the cursor is of.');
    const ask = (status: 'FLAKY' | 'BROKEN') =>
      context.call('listUnhealthyTests', { ...scope, status, page_query: pageQuery(options) });
    const [broken, flaky] = [await ask('BROKEN'), await ask('FLAKY')];
    context.show({ broken, flaky }, () => {
      const all = formatTests([...broken.tests, ...flaky.tests], 'No test is flaky or broken.');
      return `${all}${pointOn(broken.page, 'broken')}${pointOn(flaky.page, 'flaky')}`;
    });
  },
  quarantined: async (context, scope, options) => {
    const reply = await context.call('listQuarantinedTests', { ...scope, page_query: pageQuery(options) });
    context.show(
      reply,
      () => formatQuarantined(reply.quarantined_tests, 'No test is quarantined.') + formatMore(reply.page),
    );
  },
  review: listForReview,
  name: async (context, scope, { name = '', limit }) => {
    const reply = await context.call('searchTests', {
      ...scope,
      query: name,
      ...(limit === undefined ? {} : { limit }),
    });
    context.show(reply, () => formatTests(reply.tests, `No test has "${name}" in its name, class, file or suite.`));
  },
};

/** A minute of tolerance: `7d` was resolved a moment ago, and must still be accepted. */
function chooseRange(since: string | undefined, now: number): { readonly start: number; readonly end: number } {
  const start = since === undefined ? now - DAY_MS : Date.parse(since);
  if (start < now - MAX_RANGE_MS - 60_000) throw usageError('--since reaches back 7 days at most.');
  if (start >= now) throw usageError('--since is in the future.');
  return { start, end: Math.min(now, start + MAX_RANGE_MS) };
}

async function listOfStatus(
  context: Context,
  scope: TestScope,
  options: ListOptions,
  status: 'FLAKY' | 'BROKEN',
): Promise<void> {
  const reply = await context.call('listUnhealthyTests', { ...scope, status, page_query: pageQuery(options) });
  const none = `No test is ${status.toLowerCase()}.`;
  context.show(reply, () => formatTests(reply.tests, none) + formatMore(reply.page));
}

function pointOn({ total_rows, next_page_token }: { total_rows: number; next_page_token: string }, word: string) {
  return next_page_token === '' ? '' : `${total_rows} tests are ${word}: sluice tests list --${word}\n`;
}

/** The server may return empty pages in the middle, so this reads on until there are enough tests. */
async function listForReview(context: Context, scope: TestScope, options: ListOptions): Promise<void> {
  const wanted = options.limit ?? 25;
  const found: QuarantinedView[] = [];
  let token = options.cursor ?? '';
  let page: { readonly next_page_token: string };
  do {
    const page_query = { page_size: 100, page_token: token };
    const reply = await context.call('listQuarantinedTests', { ...scope, page_query, only_to_review: true });
    found.push(...reply.quarantined_tests);
    page = reply.page;
    token = page.next_page_token;
  } while (token !== '' && found.length < wanted);
  context.show({ quarantined_tests: found, page }, () => {
    return formatQuarantined(found, 'No quarantined test is to be reviewed.') + formatMore(page);
  });
}

type QuarantinedView = AnswerOf<'listQuarantinedTests'>['quarantined_tests'][number];

const REVIEWS = { ALWAYS_PASSES: 'only passes', NEVER_RUNS: 'no longer runs' } as const;

function formatQuarantined(tests: readonly QuarantinedView[], none: string): string {
  if (tests.length === 0) return `${none}\n`;
  return formatRows(tests, [
    { title: 'STATUS', style: styleOfStatus, cell: (test) => test.status },
    { title: 'QUARANTINED', cell: (test) => formatTime(test.quarantined_at) },
    { title: 'BY', cell: (test) => (test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'somebody' : 'its status') },
    { title: 'REVIEW', cell: ({ review }) => (review === undefined ? '-' : REVIEWS[review]) },
    { title: 'ID', keeps: true, cell: (test) => test.test_case_id },
    { title: 'TEST', shrinks: true, cell: (test) => formatName({ ...test, file_path: test.file ?? null }) },
    { title: 'SUITES', shrinks: true, cell: ({ quarantined_suites: suites = [] }) => suites.join(', ') || '-' },
  ]);
}
