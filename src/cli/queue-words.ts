import { formatRepo, type RepoRef } from './arguments.ts';
import { formatTable } from './table.ts';
import { clean, formatTime, paint, styleOfState, terminalWidth } from './terminal.ts';

export interface QueueSummary {
  readonly repo: RepoRef;
  readonly branch: string;
  readonly state: string;
  readonly alarms?: readonly Alarm[];
  readonly counts: Readonly<Record<string, number>>;
}

export interface Alarm {
  readonly at: string;
  readonly code: string;
  readonly text: string;
}

/** Short enough for 80 columns. */
const TITLES: Readonly<Record<string, string>> = { TESTS_PASSED: 'PASSED', PENDING_FAILURE: 'FAILING' };

const FIRST_STEPS = `No queues yet. Make one:

  sluice repo add local/acme/app --git /srv/git/app.git --check test='npm test'
  sluice queue create local/acme/app main
`;

/** One line for each queue, as many as `limit`. */
export function formatQueues(queues: readonly QueueSummary[], limit = queues.length): string {
  const [first] = queues;
  if (first === undefined) return FIRST_STEPS;
  const states = Object.keys(first.counts);
  const columns = [
    { title: 'QUEUE', shrinks: true as const },
    { title: 'BRANCH', shrinks: true as const },
    { title: 'STATE', style: styleOfState },
    ...states.map((state) => ({ title: TITLES[state] ?? state.replaceAll('_', ' '), align: 'right' as const })),
  ];
  const rows = queues
    .slice(0, limit)
    .map(({ repo, branch, state, counts }) => [
      formatRepo(repo),
      branch,
      state,
      ...states.map((name) => String(counts[name] ?? 0)),
    ]);
  const left = queues.length - rows.length;
  const more = left > 0 ? paint('gray', `and ${left} more: sluice queue list\n`) : '';
  return formatTable(columns, rows, terminalWidth()) + more;
}

/** What the queue raised lately, newest first: one line each, and nothing where there was nothing. */
export function formatAlarms(alarms: readonly Alarm[] = []): string {
  return alarms
    .map(({ at, code, text }) => `${paint('red', `${formatTime(at)}  ${clean(code)}`)}  ${clean(text)}\n`)
    .join('');
}

/** Those of all queues, each under the name of its own. */
export function formatAllAlarms(queues: readonly QueueSummary[]): string {
  return queues
    .filter(({ alarms = [] }) => alarms.length > 0)
    .map(
      ({ repo, branch, alarms }) =>
        `\n${paint('red', `Alarms of ${formatRepo(repo)} ${branch}`)}\n${formatAlarms(alarms)}`,
    )
    .join('');
}
