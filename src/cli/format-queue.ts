import { formatRepo } from './core/arguments.ts';
import type { AnswerOf } from './core/operations.ts';
import { formatRows } from './core/table.ts';
import { clean, formatTime, paint, shownState, styleOfState, terminalWidth } from './core/terminal.ts';
import { wrapWords } from './core/text-width.ts';

type QueueSummary = AnswerOf<'listQueues'>['queues'][number];
type Alarms = QueueSummary['alarms'];

/** Short enough for 80 columns. */
const TITLES: Readonly<Record<string, string>> = { TESTS_PASSED: 'PASSED', PENDING_FAILURE: 'FAILING' };

const FIRST_STEPS = `No queues yet. Make one:

  sluice repo add local/acme/app --git /srv/git/app.git --check test='npm test'
  sluice queue create local/acme/app main
`;

export function formatQueues(queues: readonly QueueSummary[], limit = queues.length): string {
  const [first] = queues;
  if (first === undefined) return FIRST_STEPS;
  const states = Object.keys(first.counts);
  const table = formatRows(queues.slice(0, limit), [
    { title: 'QUEUE', shrinks: true, cell: ({ repo }) => formatRepo(repo) },
    { title: 'BRANCH', shrinks: true, cell: ({ branch }) => branch },
    { title: 'STATE', style: styleOfState, cell: shownState },
    ...states.map((state) => ({
      title: TITLES[state] ?? state.replaceAll('_', ' '),
      align: 'right' as const,
      cell: ({ counts }: QueueSummary) => String(counts[state] ?? 0),
    })),
  ]);
  const left = queues.length - limit;
  return left > 0 ? table + paint('gray', `and ${left} more: sluice queue list\n`) : table;
}

/** The queue's recent alarms, newest first, one line each; empty if there are none. */
export function formatAlarms(alarms: Alarms = []): string {
  return alarms
    .map(({ at, code, text, endedAt }) => {
      const over = endedAt === undefined ? '' : ` Over since ${formatTime(endedAt)}.`;
      const style = endedAt === undefined ? 'red' : 'gray';
      return `${paint(style, `${formatTime(at)}  ${clean(code)}`)}  ${clean(text)}${over}\n`;
    })
    .join('');
}

/** Why the queue is on hold and tests only its own branch, and what happens next; empty without a hold. */
// SPEC N12
export function formatHold(hold: { readonly text: string } | undefined): string {
  return hold === undefined ? '' : `${paint('red', clean(hold.text))}\n`;
}

/** The statistics of an ADAPTIVE queue, in words; empty in other modes. */
// SPEC K24
export function formatLearned(learned: { readonly text: string } | undefined): string {
  return learned === undefined ? '' : formatText(learned.text);
}

/** The freeze that holds, with its end; empty if none does. */
// SPEC Q22
export function formatFrozen(frozen: { readonly text: string } | undefined): string {
  return frozen === undefined ? '' : paint('cyan', formatText(frozen.text));
}

function formatText(text: string): string {
  return `${wrapWords(clean(text).split(' '), terminalWidth() ?? Number.POSITIVE_INFINITY).join('\n')}\n`;
}

/** The freezes that hold, and the statistics of ADAPTIVE queues, each under its queue's name. */
export function formatAllNotes(queues: readonly QueueSummary[]): string {
  return queues
    .filter(({ learned, frozen }) => learned !== undefined || frozen !== undefined)
    .map(
      ({ repo, branch, learned, frozen }) =>
        `\n${formatRepo(repo)} ${branch}\n${formatFrozen(frozen)}${formatLearned(learned)}`,
    )
    .join('');
}

/** A table with one line for each replay, and the advice below it. */
export function formatAdvice({ decided, text, replays }: AnswerOf<'adviseQueue'>): string {
  const advice = formatText(text);
  if (replays.length === 0) return advice;
  const minutes = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(1));
  const table = formatRows(replays, [
    { title: 'SETTINGS', cell: ({ runCost }) => (runCost === undefined ? 'present' : `runCost ${runCost}`) },
    { title: 'RUNS/PR', align: 'right', cell: ({ runsPerDecided }) => runsPerDecided.toFixed(2) },
    { title: 'P50 MIN', align: 'right', cell: ({ p50Minutes }) => minutes(p50Minutes) },
    { title: 'P95 MIN', align: 'right', cell: ({ p95Minutes }) => minutes(p95Minutes) },
  ]);
  return `${table}\n${formatText(`Replayed: the last ${decided} decided pull requests.`)}${advice}`;
}

/** The alarms of all queues, each under its queue's name. */
export function formatAllAlarms(queues: readonly QueueSummary[]): string {
  return queues
    .filter(({ alarms = [], held }) => alarms.length > 0 || held !== undefined)
    .map(
      ({ repo, branch, alarms, held }) =>
        `\n${paint('red', `Alarms of ${formatRepo(repo)} ${branch}`)}\n${formatHold(held)}${formatAlarms(alarms)}`,
    )
    .join('');
}
