import { Type } from 'typebox';
import { present } from '../../lib/present.ts';
import { formatRepo } from '../core/arguments.ts';
import { readForetold } from '../core/forecast.ts';
import { CHOICES } from '../core/operations.ts';
import { explainFailure } from './explain-failure.ts';
import { readLogTail } from './log-tail.ts';
import { RESULT_TOOLS } from './result-tools.ts';
import { choice, pageFields, prFields, queueFields, repoFields, type Tool, tool, words } from './tool.ts';

const DEFAULT_TAKE = 20;
const DAY_MS = 86_400_000;
const TEST_RUN = words(
  'The id of the test run (candidate): the last part of its test branch. pull_request_history and explain_failure name it.',
  100,
);

const listQueues = tool({
  name: 'list_queues',
  title: 'List merge queues',
  description:
    'Lists the repositories and branches that have a merge queue, with how many pull requests are in each state. Call it first if you do not know the repository or branch.',
  fields: {},
  run: async ({ context }) => {
    const { queues } = await context.call('listQueues', {});
    const rows = queues.map((queue) => ({
      repo: formatRepo(queue.repo),
      branch: queue.branch,
      state: queue.state,
      counts: queue.counts,
    }));
    return [{ title: `${rows.length} queues:`, data: rows }];
  },
});

const queueStatus = tool({
  name: 'queue_status',
  title: 'Show a merge queue',
  description:
    'Shows the state of a merge queue and the pull requests in it, in their order: state, reason, and when each will land. Also why the whole queue stands still: paused, frozen, or a broken target branch (targetBranchBroken).',
  fields: { ...queueFields, limit: pageFields.limit },
  run: async ({ context, findPlace }, given) => {
    const body = { ...(await findPlace(given)), includeExplanation: true, includeForecast: true };
    const queue = await readForetold(context, 'pollQueue', body);
    const { enqueuedPullRequests: all, version: _, ...about } = queue;
    const entries = all.slice(0, given.limit ?? DEFAULT_TAKE).map(({ explanation, forecast, ...entry }) => ({
      ...shorten(entry),
      ...present({ why: explanation?.summary, position: explanation?.position, forecast: forecast?.text }),
    }));
    return [
      { title: `${all.length} pull requests are in the queue; the first ${entries.length}:`, data: entries },
      { title: 'The queue and its settings:', data: about },
    ];
  },
});

const whyWaiting = tool({
  name: 'why_waiting',
  title: 'Explain why a pull request waits',
  description:
    'Explains where a pull request stands in the merge queue, why it has not landed, when it will, and what to do next. If its tests failed, explain_failure tells more.',
  fields: prFields,
  run: async ({ context, findPlace }, given) => {
    const body = { ...(await findPlace(given)), pr: { number: given.pr } };
    const detail = { includeExplanation: true, includeForecast: true };
    const entry = await readForetold(context, 'pollPullRequest', { ...body, ...detail });
    return [{ title: `Pull request ${given.pr}:`, data: shorten(entry) }];
  },
});

const pullRequestHistory = tool({
  name: 'pull_request_history',
  title: 'Show the history of a pull request',
  description:
    'Lists every change of state of a pull request in the merge queue, newest first, with reason, actor and test run; if it landed, also the proof of what was tested.',
  fields: prFields,
  run: async ({ context, findPlace }, given) => {
    const body = { ...(await findPlace(given)), pr: { number: given.pr }, includeTimeline: true };
    const entry = await context.call('getSubmittedPullRequest', body);
    return [{ title: `Pull request ${given.pr}, newest change first:`, data: shorten(entry) }];
  },
});

const listLandings = tool({
  name: 'list_landings',
  title: 'List pull requests that left the queue',
  description:
    'Lists the pull requests that landed lately, newest first, or those in another state: FAILED for those that were removed.',
  fields: {
    ...queueFields,
    state: Type.Optional(choice(CHOICES.pullRequestState, 'The state that they are in. Default: MERGED (landed).')),
    since: Type.Optional(words('Only those that left the queue since this instant, such as 2027-01-31T00:00:00Z.')),
    ...pageFields,
  },
  run: async ({ context, findPlace }, given) => {
    const { state = 'MERGED', since, cursor, limit: take = DEFAULT_TAKE } = given;
    const place = await findPlace(given);
    const filters = present({ since, cursor });
    const reply = await context.call('listPullRequests', { ...place, state: state as 'MERGED', take, ...filters });
    return [
      { title: 'Pull requests:', data: { pullRequests: reply.pullRequests.map(shorten), cursor: reply.nextCursor } },
    ];
  },
});

const TEST_KINDS = ['failing', 'flaky', 'broken', 'quarantined', 'all'] as const;
const STATUS_OF: Readonly<Record<string, 'FLAKY' | 'BROKEN'>> = { flaky: 'FLAKY', broken: 'BROKEN' };

const listTests = tool({
  name: 'list_tests',
  title: 'List failing, flaky or quarantined tests',
  description:
    'Lists tests of a repository with their ids, how often they fail, and how. Ask before you blame a change for a red test: a flaky test fails at random, a broken one fails for everybody.',
  fields: {
    ...repoFields,
    kind: choice(
      TEST_KINDS,
      'failing: failed in the last 24 hours, most failures first. flaky, broken: by status. quarantined: their failures block nobody. all: by impact on pull requests.',
    ),
    text: Type.Optional(words('Only tests with this in their name, class, file or suite. Not with failing.', 500)),
    ...pageFields,
  },
  run: async ({ context, findScope }, given) => {
    const { kind, text, limit = DEFAULT_TAKE, cursor } = given;
    const query = { ...(await findScope(given)), page_query: present({ page_size: limit, page_token: cursor }) };
    const now = Date.now();
    const range = { start_time: new Date(now - DAY_MS).toISOString(), end_time: new Date(now).toISOString() };
    const filters = present({ text, status: STATUS_OF[kind], quarantined: kind === 'quarantined' || undefined });
    const { tests, page } =
      kind === 'failing'
        ? await context.call('listFailingTests', { ...query, ...range })
        : await context.call('listTests', { ...query, ...filters });
    const rows = tests.map(({ html_url: _, repository: __, ...test }) => test);
    return [
      {
        title: `${page.total_rows} tests, of which here are ${rows.length}:`,
        data: { tests: rows, cursor: page.next_page_token },
      },
    ];
  },
});

const checkLog = tool({
  name: 'check_log',
  title: 'Read the output of a check',
  description:
    'Reads the end of what a check printed in a test run, also while it runs. Only for checks of the built-in runner; of another CI it tells the address.',
  fields: {
    test_run: TEST_RUN,
    check: Type.Optional(words('The name of the check. Default: one that failed, else the first.')),
    max_chars: Type.Optional(
      Type.Integer({
        minimum: 100,
        maximum: 12_000,
        default: 8000,
        description: 'How much of its end. Default: 8000.',
      }),
    ),
  },
  run: ({ context }, { test_run, check, max_chars = 8000 }) =>
    readLogTail(context, { testRunId: test_run, ...present({ check }) }, max_chars),
});

const explain = tool({
  name: 'explain_failure',
  title: 'Explain why a pull request failed',
  description:
    'Collects what is known about the last failure of a pull request in the queue, also a conflict: the explanation, its checks, the tests that failed in that run with their messages and whether they are flaky, and the end of the log.',
  fields: { ...prFields, test_run: Type.Optional(TEST_RUN) },
  run: explainFailure,
});

export const READ_TOOLS: readonly Tool[] = [
  listQueues,
  queueStatus,
  whyWaiting,
  explain,
  pullRequestHistory,
  listLandings,
  listTests,
  checkLog,
  ...RESULT_TOOLS,
];

/** Without fields that say nothing to a reader. */
export function shorten<Entry extends object>(entry: Entry) {
  const {
    id: _,
    usedDefaultPriorityName: __,
    forceEnqueued: ___,
    version: ____,
    ...rest
  } = entry as Record<string, unknown>;
  return rest;
}
