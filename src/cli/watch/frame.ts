import { formatRepo } from '../core/arguments.ts';
import { clean, formatRelative, paint, type Style, shownState, styleOfState } from '../core/terminal.ts';
import { cut } from '../core/text-width.ts';
import { formatElapsed, formatLane, groupLanes, isBisection } from './format-run.ts';
import { type Entry, type Snapshot, type TestRun, testedIn } from './read-queue.ts';
import { alignRows } from './rows.ts';

export interface FrameOptions {
  readonly width: number;
  readonly height: number;
  readonly now: number;
  /** A message about the view itself, such as "server unavailable". */
  readonly notice?: string | undefined;
}

interface Section {
  readonly title: string;
  /** The lines that could fit. */
  readonly lines: readonly string[];
  readonly count: number;
}

const WIDE = 90;
const NARROW = 60;
const INDENT = 2;
/** `sluice queue show` lists older alarms. */
const ALARM_MS = 3_600_000;

/** A pure function. */
// SPEC W2
export function renderFrame(snapshot: Snapshot, options: FrameOptions): readonly string[] {
  const head = renderHead(snapshot, options);
  const sections = [
    renderTesting(snapshot, options),
    renderWaiting('Passed', 'TESTS_PASSED', snapshot, options),
    renderWaiting('Failing', 'PENDING_FAILURE', snapshot, options),
    renderWaiting('Waiting', 'PENDING', snapshot, options),
    renderWaiting('Not ready', 'NOT_READY', snapshot, options),
    renderLeft(snapshot, options),
  ].filter(({ lines }) => lines.length > 0);
  const isIdle = snapshot.queue.enqueuedPullRequests.length === 0;
  const empty = isIdle ? ['', paint('gray', cut('Nothing is in the queue.', options.width))] : [];
  const fixed = [...head, ...empty];
  const rooms = shareRoom(sections, options.height - fixed.length);
  return [...fixed, ...sections.flatMap((section, index) => renderSection(section, rooms[index] ?? 0, options.width))];
}

function renderHead({ place, queue, runs }: Snapshot, { width, notice, now }: FrameOptions): string[] {
  const state = shownState(queue);
  const title = [
    paint('bold', clean(`${formatRepo(place.repo)} ${queue.branch}`)),
    paint(styleOfState(state), state),
    paint('gray', String(queue['mode']).toLowerCase()),
  ];
  const used = runs.filter((run) => !isBisection(run)).length;
  const alarm = queue.alarms?.find(({ endedAt }) => endedAt === undefined);
  const isRecent = alarm !== undefined && now - Date.parse(alarm.at) < ALARM_MS;
  const forecast = queue.forecast?.basis === undefined ? undefined : queue.forecast.text;
  const notes: readonly (readonly [style: Style, before: string, text: string | undefined])[] = [
    ['gray', '', formatCounts(queue.enqueuedPullRequests, `${used} of ${queue['concurrency']} slots`)],
    ['gray', 'Submitted now: ', forecast],
    ['gray', '', queue.learned?.text],
    ['red', 'It stopped itself: ', queue.parked?.reason],
    ['cyan', '', queue.frozen?.text],
    ['red', '', queue.held?.text],
    ['red', `Alarm ${formatElapsed(alarm?.at, now)} ago: `, isRecent ? alarm.text : undefined],
    ['yellow', '', notice],
  ];
  const lines = notes.flatMap(([style, before, text]) =>
    text === undefined ? [] : [paint(style, cut(clean(before + text), width))],
  );
  return [cut(title.join('  '), width), ...lines];
}

const WORDS: readonly (readonly [state: string, word: string])[] = [
  ['TESTING', 'testing'],
  ['TESTS_PASSED', 'passed'],
  ['PENDING_FAILURE', 'failing'],
  ['PENDING', 'waiting'],
  ['NOT_READY', 'not ready'],
];

function formatCounts(entries: readonly Entry[], slots: string): string {
  const counts = WORDS.flatMap(([state, word]) => {
    const count = entries.filter((entry) => entry.state === state).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return [...counts, slots].join(' · ');
}

function renderTesting({ queue, runs }: Snapshot, { width, height, now }: FrameOptions): Section {
  const context = { branch: queue.branch, now, isWide: width >= WIDE };
  const tested = testedIn(runs);
  const lanes = groupLanes(onlyLive(runs, queue.enqueuedPullRequests)).flatMap((lane) => formatLane(lane, context));
  // The queue and its runs are read one after another, so a run may have ended or begun in between.
  const others = queue.enqueuedPullRequests
    .filter(({ state, prNumber }) => state === 'TESTING' && !tested.has(prNumber))
    .map((entry) => [`${paint('gray', '─ ')}${numberOf(entry)}`, '', '', since(entry, now), clean(entry.prTitle)]);
  const all = [...lanes, ...others];
  const shown = all.slice(0, height).map((row) => (width < NARROW ? row.slice(0, -1) : row));
  return { title: 'Under test', lines: indent(shown, width, 1), count: all.length };
}

/** Pull requests that have landed are part of the target branch by now, so no run waits for them. */
function onlyLive(runs: readonly TestRun[], entries: readonly Entry[]): readonly TestRun[] {
  const live = new Set(entries.map(({ prNumber }) => prNumber));
  return runs.map((run) => ({ ...run, dependentPrs: (run.dependentPrs ?? []).filter((number) => live.has(number)) }));
}

function renderWaiting(
  title: string,
  state: string,
  { queue, runs, records }: Snapshot,
  { width, height, now }: FrameOptions,
): Section {
  const tested = testedIn(runs);
  const entries = queue.enqueuedPullRequests.filter((entry) => entry.state === state && !tested.has(entry.prNumber));
  const shown = entries.slice(0, height);
  const isForetold = shown.some(({ forecast }) => forecast?.landsAtP50 !== undefined);
  const explanations = shown.map(({ prNumber }) => records.get(prNumber)?.explanation);
  const places = alignPlaces(explanations.map((explanation) => explanation?.position));
  const rows = shown.map((entry, index) => [
    `${places[index]}${numberOf(entry)}${urgencyOf(entry)}`,
    since(entry, now),
    ...(width < WIDE || !isForetold ? [] : [paint('cyan', landsIn(entry, now))]),
    ...(width < NARROW ? [] : [clean(entry.prTitle)]),
    paint('gray', clean(explanations[index]?.reasons[0]?.text ?? '')),
  ]);
  return { title, lines: indent(rows, width, width < NARROW ? 1 : 2), count: entries.length };
}

function since({ stateChangedAt }: Entry, now: number): string {
  return paint('gray', formatElapsed(stateChangedAt, now));
}

/** `lands in 24 min`; empty without a forecast. */
function landsIn({ forecast }: Entry, now: number): string {
  if (forecast?.landsAtP50 === undefined) return '';
  return `lands ${formatRelative(Math.max(now, Date.parse(forecast.landsAtP50)), now)}`;
}

/** Aligns positions, ` 9. ` above `10. `; empty if no entry has one. */
function alignPlaces(positions: readonly (number | undefined)[]): readonly string[] {
  const texts = positions.map((position) => (position === undefined ? '' : `${position}. `));
  const width = Math.max(0, ...texts.map(({ length }) => length));
  return texts.map((text) => paint('gray', text.padStart(width)));
}

function numberOf({ prNumber }: Entry): string {
  return paint('bold', `#${prNumber}`);
}

/** Marks entries with a priority of their own. */
function urgencyOf({ priorityName, usedDefaultPriorityName, skipTheLine }: Entry): string {
  if (usedDefaultPriorityName !== undefined) return '';
  return paint(skipTheLine ? 'red' : 'yellow', ` ${clean(priorityName)}`);
}

const ENDS: Readonly<Record<string, { readonly mark: string; readonly style: Style; readonly word: string }>> = {
  MERGED: { mark: '✓', style: 'green', word: 'landed' },
  FAILED: { mark: '✗', style: 'red', word: 'failed' },
  CANCELLED: { mark: '⊘', style: 'gray', word: 'cancelled' },
};

function renderLeft({ left, records }: Snapshot, { width, now }: FrameOptions): Section {
  const rows = left.map((entry) => {
    const { state = '', prNumber, prTitle, stateChangedAt } = entry;
    const { mark, style, word } = ENDS[state] ?? { mark: '·', style: 'gray' as const, word: state };
    const record = records.get(prNumber);
    // The mark shows the landing already; the commit says more.
    const sha = state === 'MERGED' ? record?.landed?.sha : undefined;
    const why = sha === undefined ? clean(record?.explanation?.reasons[0]?.text ?? '') : `as ${sha.slice(0, 9)}`;
    return [
      `${paint(style, `${mark} `)}${numberOf(entry)}`,
      paint(style, word),
      paint('gray', `${formatElapsed(stateChangedAt, now)} ago`),
      ...(width < NARROW ? [] : [clean(prTitle)]),
      paint('gray', why),
    ];
  });
  return { title: 'Left', lines: indent(rows, width, width < NARROW ? 1 : 2), count: rows.length };
}

function indent(rows: readonly (readonly string[])[], width: number, loose: number): string[] {
  return alignRows(rows, width - INDENT, loose).map((line) => ' '.repeat(INDENT) + line);
}

/** A blank line, a title, and as many lines as fit. */
function renderSection({ title, lines, count }: Section, room: number, width: number): string[] {
  if (room < 3) return [];
  const head = ['', paint('bold', cut(title, width))];
  if (count + head.length <= room) return [...head, ...lines];
  const shown = lines.slice(0, room - head.length - 1);
  const more = `${' '.repeat(INDENT)}and ${count - shown.length} more`;
  return [...head, ...shown, paint('gray', cut(more, width))];
}

/** Takes missing room from the longest section first. */
function shareRoom(sections: readonly Section[], height: number): readonly number[] {
  const rooms = sections.map(({ count }) => Math.min(count, height) + 2);
  while (rooms.reduce((sum, each) => sum + each, 0) > Math.max(0, height)) {
    const longest = rooms.reduce((best, each, index) => (each >= (rooms[best] ?? 0) ? index : best), 0);
    if ((rooms[longest] ?? 0) === 0) break;
    // A section needs room for a title and a line, or it is dropped.
    rooms[longest] = (rooms[longest] as number) <= 3 ? 0 : (rooms[longest] as number) - 1;
  }
  return rooms;
}
