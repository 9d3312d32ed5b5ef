import type { Static } from 'typebox';
import type { TestCase, TestDetails } from '../../contract/test-details.ts';
import { type Facts, formatFacts, formatRows } from '../core/table.ts';
import { clean, formatTime, paint, type Style } from '../core/terminal.ts';

type TestView = Static<typeof TestCase>;
export type DetailsView = Static<typeof TestDetails>;

const STYLES: Readonly<Record<string, Style>> = { HEALTHY: 'green', FLAKY: 'yellow', BROKEN: 'red' };

export function styleOfStatus(status: string): Style | undefined {
  return STYLES[status.trimEnd()];
}

interface Named {
  readonly name: string;
  readonly parent?: string | null;
  readonly file_path?: string | null;
  readonly variant: string;
}

/** `suite > name [variant] (file)`. */
export function formatName({ name, parent, file_path, variant }: Named): string {
  const whole = parent ? `${parent} > ${name}` : name;
  return `${whole}${variant === '' ? '' : ` [${variant}]`}${file_path ? ` (${file_path})` : ''}`;
}

export function formatTests(tests: readonly TestView[], none: string): string {
  if (tests.length === 0) return `${none}\n`;
  return formatRows(tests, [
    { title: 'STATUS', style: styleOfStatus, cell: (test) => test.status.value },
    { title: 'FAILS 24H', align: 'right', cell: (test) => formatRate(test.failure_rate_last_24h) },
    { title: '7D', align: 'right', cell: (test) => formatRate(test.failure_rate_last_7d) },
    { title: 'PRS', align: 'right', cell: (test) => String(test.pull_requests_impacted_last_7d) },
    { title: 'QUARANTINED', cell: (test) => (test.quarantined ? 'yes' : '-') },
    { title: 'ID', keeps: true, cell: (test) => test.id },
    { title: 'TEST', shrinks: true, cell: formatName },
  ]);
}

/** A share of runs. A positive share never rounds to zero, and an incomplete one never to all. */
export function formatRate(rate: number): string {
  if (rate === 0) return '-';
  const percent = rate * 100;
  if (percent < 0.1) return '<0.1%';
  if (percent < 10) return `${(Math.floor(percent * 10) / 10).toFixed(1)}%`;
  return `${Math.floor(percent)}%`;
}

/** Everything about one test but its history. */
export function formatDetails(test: DetailsView): string {
  const { status } = test;
  const facts: Facts = [
    ['Status', `${paint(styleOfStatus(status.value), status.value)}, since ${formatTime(status.timestamp)}`],
    ['Why', clean(status.reason)],
    ['Quarantine', describeQuarantine(test)],
    ['Flagged', test.flag && describeAct(test.flag)],
    ['Fails', describeRates(test)],
    ...optionalFacts(test).map(([name, value]) => [name, value ? clean(value) : undefined] as const),
    ['First seen', formatTime(test.first_seen_at)],
    ['Id', test.id],
  ];
  return [
    `${paint('bold', clean(formatName({ ...test, file_path: null })))}\n${formatFacts(facts)}`,
    ...formatMonitors(test),
    ...formatFailures(test),
  ].join('\n');
}

function optionalFacts(test: DetailsView): Facts {
  return [
    ['File', test.file_path],
    ['Class', test.classname],
    ['Suites', test.suites.join(', ')],
    ['Owners', test.codeowners.join(', ')],
    ['Labels', test.labels.map(({ name }) => name).join(', ')],
    ['Ticket', test.ticket?.html_url],
    ['Page', test.html_url],
  ];
}

export function describeQuarantine(test: DetailsView): string {
  const state = test.quarantined
    ? `${paint('yellow', 'quarantined')}, since ${formatTime(test.quarantined_at)}`
    : 'not quarantined';
  const override = test.quarantine_override;
  if (override === undefined) return state;
  const where = override.suites === undefined ? '' : ` in ${clean(override.suites.join(', '))}`;
  const word = override.setting === 'ALWAYS_QUARANTINE' ? 'always' : 'never';
  const end = override.expires_at === undefined ? '' : `; ends ${formatTime(override.expires_at)}`;
  return `${state} (${word}${where}, ${describeAct(override)}${end})`;
}

interface Act {
  readonly actor: string;
  readonly at: string;
  readonly reason?: string;
}

function describeAct({ actor, at, reason }: Act): string {
  return `by ${clean(actor)} ${formatTime(at)}${reason === undefined ? '' : `: ${clean(reason)}`}`;
}

function describeRates(test: DetailsView): string {
  const prs = test.pull_requests_impacted_last_7d;
  const words = prs === 0 ? '' : `; ${prs} pull ${prs === 1 ? 'request' : 'requests'} hit in 7 days`;
  const [day, week] = [test.failure_rate_last_24h, test.failure_rate_last_7d];
  if (week === 0) return 'not in the last 7 days';
  return `${day === 0 ? 'none' : formatRate(day)} of the last 24 h, ${formatRate(week)} of the last 7 days${words}`;
}

function formatMonitors({ monitors }: DetailsView): string[] {
  if (monitors.length === 0) return [];
  const lines = monitors.map(({ name, type, monitor_id, is_active, reason, active_since, mute, evidence }) => {
    const state = is_active ? `${paint('yellow', 'active')} since ${formatTime(active_since)}` : 'not active';
    const end = mute?.until === undefined ? '' : `; ends ${formatTime(mute.until)}`;
    const muted = mute === undefined ? '' : `, muted ${describeAct(mute)}${end}`;
    const why = reason === undefined ? '' : `\n    ${clean(reason)}`;
    return `  ${clean(name)} (${type}) ${state}${muted}  ${paint('gray', monitor_id)}${why}\n${formatRetry(evidence)}`;
  });
  return [`Monitors\n${lines.join('')}`];
}

/** The commits of one tree on which the test failed and passed last. */
// SPEC F88
function formatRetry(evidence: DetailsView['monitors'][number]['evidence']): string {
  const { tree, failed, passed } = evidence?.runs[0] ?? {};
  if (tree === undefined || failed === undefined || passed === undefined || failed.sha === passed.sha) return '';
  return `    failed at ${describeOutcome(failed)}\n    passed at ${describeOutcome(passed)}\n    tree      ${clean(tree)}\n`;
}

function describeOutcome({ sha, test_run_id: run }: { readonly sha: string; readonly test_run_id?: string }): string {
  return `${clean(sha)}${run === undefined ? '' : ` (test run ${clean(run)})`}`;
}

function formatFailures({ most_common_failures: failures }: DetailsView): string[] {
  if (failures.length === 0) return [];
  const lines = failures.map(
    ({ summary, occurrence_count, last_occurrence }) =>
      `  ${occurrence_count}x, last ${formatTime(last_occurrence)}: ${clean(summary)}\n`,
  );
  return [`Most common failures\n${lines.join('')}`];
}
