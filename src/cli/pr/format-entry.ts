import type { Static } from 'typebox';
import type { EntryRecord, ExplanationReason, ListEntry } from '../../contract/entry.ts';
import { shellWord } from '../../lib/text.ts';
import { tellForecast } from '../core/forecast.ts';
import { type Facts, formatFacts, formatRows } from '../core/table.ts';
import { clean, cleanTitle, formatTime, paint, styleOfState, terminalWidth } from '../core/terminal.ts';
import { wrapWords } from '../core/text-width.ts';

type Explanation = NonNullable<EntryRecord['explanation']>;
type Timeline = NonNullable<EntryRecord['timeline']>;

type Entry = Static<typeof ListEntry>;
type ExplainedEntry = Entry & { readonly explanation?: Explanation };

const COLUMNS = [
  { title: 'PR', align: 'right' as const, cell: (entry: Entry) => `#${entry.prNumber}` },
  { title: 'STATE', style: styleOfState, cell: (entry: Entry) => entry.state ?? '-' },
  { title: 'SINCE', cell: (entry: Entry) => formatTime(entry.stateChangedAt) },
  { title: 'PRIORITY', cell: (entry: Entry) => entry.priorityName },
  { title: 'AUTHOR', shrinks: true as const, cell: (entry: Entry) => entry.prAuthor },
  { title: 'TITLE', shrinks: true as const, cell: (entry: Entry) => entry.prTitle },
];

const LANDS = {
  title: 'LANDS',
  cell: ({ forecast }: Entry) => (forecast?.landsAtP50 === undefined ? '' : formatTime(forecast.landsAtP50)),
};

export function formatEntries(entries: readonly Entry[]): string {
  return entries.length === 0 ? 'No pull requests.\n' : formatRows(entries, COLUMNS);
}

/** The same with the reason of each. On a terminal, a priority that all have makes room for it. */
// SPEC W37
export function formatExplained(entries: readonly ExplainedEntry[]): string {
  if (entries.length === 0) return 'No pull requests.\n';
  const isUsual = terminalWidth() !== undefined && entries.every(({ priorityName }) => priorityName === 'medium');
  const columns = COLUMNS.filter(({ title }) => title !== 'PRIORITY' || !isUsual);
  const lands = entries.some(({ forecast }) => forecast?.landsAtP50 !== undefined) ? [LANDS] : [];
  return formatRows(entries, [...columns, ...lands, { title: 'WHY', wraps: true, cell: formatWhy }]);
}

/** The first sentence: `pr status` has the rest. */
function formatWhy({ explanation }: ExplainedEntry): string {
  const text = explanation?.reasons[0]?.text ?? explanation?.summary ?? '';
  return text.split(/(?<=\.) (?=[A-Z#])/, 1)[0] ?? '';
}

/** The result of a change, in one line. */
export function formatOutcome(record: EntryRecord): string {
  const title = `#${record.prNumber} ${cleanTitle(record.prTitle)}`;
  if (record.state === undefined) return `${title}: not submitted yet.`;
  return `${title}: ${paint(styleOfState(record.state), record.state)}.`;
}

/** How a stay in the queue ended, and what to do about it. */
export function formatEnd(record: EntryRecord): string {
  return [formatOutcome(record), '\n', ...formatExplanation(record.explanation)].join('');
}

/** Everything about one entry: its state, the reason, and its history. */
export function formatRecord(record: EntryRecord): string {
  const { explanation, timeline, impactedTargets, submittedBy } = record;
  const forecast = tellForecast(record);
  const facts: Facts = [
    ['State', record.state && formatState(record, record.state)],
    ['Position', explanation?.position?.toString()],
    ['Forecast', forecast && clean(forecast)],
    ['Priority', `${record.priorityName} (${record.priorityValue})${record.noBatch ? ', never in a batch' : ''}`],
    ['Submitted by', submittedBy && `${clean(submittedBy.name)}${submittedBy.isAgent ? ' (agent)' : ''}`],
    ['Built on', formatBelow(record.dependsOn, record.waitsFor)],
    ['Built on it', record.dependents?.map((number) => `#${number}`).join(', ')],
    ['Head', record.prSha],
    ['Targets', impactedTargets && formatTargets(impactedTargets)],
    ['Passed in', record.verifiedByTestRun === null ? undefined : clean(record.verifiedByTestRun)],
    ['Landed', record.landed?.sha],
  ];
  const title = `${paint('bold', `#${record.prNumber} ${cleanTitle(record.prTitle)}`)}  by ${cleanTitle(record.prAuthor)}\n`;
  return [
    title + formatFacts(facts),
    ...formatExplanation(explanation),
    ...formatLogs(timeline, explanation),
    ...formatTimeline(timeline),
  ].join('\n');
}

/** `#5, #6 (merged), https://…` */
function formatBelow(below: EntryRecord['dependsOn'] = [], elsewhere: readonly string[] = []): string | undefined {
  const names = below.map(({ prNumber, isMerged }) => `#${prNumber}${isMerged ? ' (merged)' : ''}`);
  return [...names, ...elsewhere.map(clean)].join(', ') || undefined;
}

/** `Under test (TESTING), since …` */
function formatState({ explanation, stateChangedAt }: EntryRecord, state: string): string {
  const name = paint(styleOfState(state), state);
  const words = explanation === undefined ? name : `${clean(explanation.headline)} (${name})`;
  return `${words}, since ${formatTime(stateChangedAt)}`;
}

function formatTargets({ impactsAll, count, note }: NonNullable<EntryRecord['impactedTargets']>): string {
  return `${impactsAll ? 'all' : count}. ${clean(note)}`;
}

/** A line that goes on below its own text where the terminal ends. */
export function wrapLine(indent: string, text: string): string {
  const width = terminalWidth();
  if (width === undefined) return indent + text;
  const below = ' '.repeat(indent.length);
  return indent + wrapWords(text.split(' '), Math.max(20, width - indent.length)).join(`\n${below}`);
}

function formatExplanation(explanation: Explanation | undefined): string[] {
  if (explanation === undefined) return [];
  const lines = [wrapLine('', clean(explanation.summary))];
  // A summary often ends with its only reason.
  for (const reason of explanation.reasons) {
    const isSaid = explanation.summary.endsWith(reason.text);
    if (!isSaid) lines.push(wrapLine('  - ', formatReason(reason)));
    lines.push(...formatReasons(reason, isSaid ? '  ' : '    '));
  }
  lines.push(
    wrapLine('Next: ', clean(explanation.next)),
    ...explanation.commands.map((command) => `  $ ${clean(command)}`),
  );
  return [`${lines.join('\n')}\n`];
}

/** The reasons behind a reason, indented. A reason that the sentence already has is not repeated, but its link is. */
function formatReasons({ text, reasons }: ExplanationReason, indent: string): string[] {
  const said = text.toLowerCase();
  return reasons.flatMap((inner) => [
    ...(inner.url === undefined && said.includes(inner.text.toLowerCase().replace(/\.$/, ''))
      ? []
      : [wrapLine(`${indent}- `, formatReason(inner))]),
    ...formatReasons(inner, `${indent}  `),
  ]);
}

function formatReason({ text, url }: ExplanationReason): string {
  return url === undefined ? clean(text) : `${clean(text)} ${clean(url)}`;
}

/** A CI outside has its logs elsewhere, and its reasons end with their addresses. */
// SPEC W33
function formatLogs(timeline: Timeline | undefined, explanation: Explanation | undefined): string[] {
  if (explanation !== undefined && !explanation.reasons.some(namesLog)) return [];
  const { testRunId, checks = [] } = timeline?.[0] ?? {};
  if (testRunId === undefined || checks.length === 0) return [];
  const lines = checks.map((check) => `What it printed: ${clean(formatLogCommand(testRunId, check))}`);
  return [`${lines.join('\n')}\n`];
}

function namesLog({ text, reasons }: ExplanationReason): boolean {
  return text.includes('sluice logs ') || reasons.some(namesLog);
}

function formatTimeline(timeline: Timeline | undefined): string[] {
  if (timeline === undefined || timeline.length === 0) return [];
  const table = formatRows(timeline, [
    { title: 'WHEN', cell: ({ at }) => formatTime(at) },
    { title: 'STATE', style: styleOfState, cell: ({ state }) => state },
    { title: 'WHY', wraps: true, cell: ({ text }) => text },
    { title: 'WHO', shrinks: true, cell: ({ actor }) => actor ?? '' },
  ]);
  return [table];
}

/** The command line that prints the log of a check. */
export function formatLogCommand(candidate: string, check?: string, flags = ''): string {
  const name = check === undefined ? '' : ` ${check.startsWith('-') ? '-- ' : ''}${shellWord(check)}`;
  return `sluice logs ${flags}${candidate}${name}`;
}
