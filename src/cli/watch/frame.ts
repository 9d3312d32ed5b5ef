import { formatRepo } from '../core/arguments.ts';
import { clean, formatRelative, paint, type Style, styleOfState } from '../core/terminal.ts';
import { cut } from '../core/text-width.ts';
import { formatElapsed, formatLane, groupLanes, isBisection } from './format-run.ts';
import { alignRows, type Cell, type RowPart } from './rows.ts';
import type { Entry, Left, Snapshot, TestRun } from './snapshot.ts';

export interface FrameOptions {
  readonly width: number;
  /** Maximum number of lines. */
  readonly height: number;
  readonly now: number;
  /** A message about the view itself, such as "server unavailable". */
  readonly notice?: string | undefined;
}

interface Section {
  readonly title: string;
  /** The lines that could fit. */
  readonly lines: readonly string[];
  /** The total number of lines. */
  readonly count: number;
}

const WIDE = 90;
const NARROW = 60;
const INDENT = 2;
const MAX_LEFT = 6;
/** `sluice queue show` lists older alarms. */
const ALARM_MS = 3_600_000;

/**
 * The whole view: the lanes under test, the waiting entries with their reasons, and those that left. A pure function.
 */
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

function renderHead({ repo, queue, runs }: Snapshot, { width, notice, now }: FrameOptions): string[] {
  const title: Cell[] = [
    [{ text: clean(`${formatRepo(repo)} ${queue.branch}`), style: 'bold' }],
    [{ text: queue.state, style: styleOfState(queue.state) }],
    [{ text: queue.mode.toLowerCase(), style: 'gray' }],
  ];
  const used = runs.filter((run) => !isBisection(run)).length;
  const counts = formatCounts(queue.enqueuedPullRequests, `${used} of ${queue.concurrency} slots`);
  const lines = [...alignRows([title], width, 0), paint('gray', cut(counts, width))];
  if (queue.forecast !== undefined) {
    lines.push(paint('gray', cut(`Submitted now: ${clean(queue.forecast)}`, width)));
  }
  if (queue.learned !== undefined) lines.push(paint('gray', cut(clean(queue.learned.text), width)));
  if (queue.parked !== undefined) {
    lines.push(paint('red', cut(`It stopped itself: ${clean(queue.parked.reason)}`, width)));
  }
  if (queue.frozen !== undefined) lines.push(paint('cyan', cut(clean(queue.frozen.text), width)));
  if (queue.held !== undefined) lines.push(paint('red', cut(clean(queue.held.text), width)));
  if (queue.alarm !== undefined && now - Date.parse(queue.alarm.at) < ALARM_MS) {
    const ago = formatElapsed(queue.alarm.at, now);
    lines.push(paint('red', cut(`Alarm ${ago} ago: ${clean(queue.alarm.text)}`, width)));
  }
  if (notice !== undefined) lines.push(paint('yellow', cut(clean(notice), width)));
  return lines;
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

function renderTesting(snapshot: Snapshot, { width, height, now }: FrameOptions): Section {
  const { queue } = snapshot;
  const context = { branch: queue.branch, now, isWide: width >= WIDE };
  const tested = testedIn(snapshot);
  // The queue and its runs are read one after another, so a run may have ended or begun in between.
  const others = queue.enqueuedPullRequests.filter(
    ({ state, prNumber }) => state === 'TESTING' && !tested.has(prNumber),
  );
  const rows = groupLanes(onlyLive(snapshot)).flatMap((lane) => formatLane(lane, context));
  const rest = others.map((entry): Cell[] => [
    [{ text: '─ ', style: 'gray' }, numberOf(entry)],
    [],
    [],
    [{ text: formatElapsed(entry.stateChangedAt, now), style: 'gray' }],
    [{ text: clean(entry.prTitle) }],
  ]);
  const all = [...rows, ...rest];
  const shown = all.slice(0, height).map((row) => (width < NARROW ? row.slice(0, -1) : row));
  return { title: 'Under test', lines: indent(shown, width, 1), count: all.length };
}

/** Pull requests that have landed are part of the target branch by now, so no run waits for them. */
function onlyLive({ queue, runs }: Snapshot): readonly TestRun[] {
  const live = new Set(queue.enqueuedPullRequests.map(({ prNumber }) => prNumber));
  return runs.map((run) => ({ ...run, dependentPrs: (run.dependentPrs ?? []).filter((number) => live.has(number)) }));
}

function renderWaiting(
  title: string,
  state: string,
  snapshot: Snapshot,
  { width, height, now }: FrameOptions,
): Section {
  const tested = testedIn(snapshot);
  const entries = snapshot.queue.enqueuedPullRequests.filter(
    (entry) => entry.state === state && !tested.has(entry.prNumber),
  );
  const shown = entries.slice(0, height);
  const isForetold = shown.some(({ forecast }) => forecast?.landsAtP50 !== undefined);
  const waits = shown.map(({ prNumber }) => snapshot.waits.get(prNumber));
  const places = alignPlaces(waits.map((wait) => wait?.position));
  const rows = shown.map((entry, index): Cell[] => {
    const since: Cell = [{ text: formatElapsed(entry.stateChangedAt, now), style: 'gray' }];
    const lands: Cell[] = width < WIDE || !isForetold ? [] : [[{ text: landsIn(entry, now), style: 'cyan' }]];
    const number: Cell = [...(places[index] ?? []), numberOf(entry), ...urgencyOf(entry)];
    const words: Cell[] = [[{ text: clean(entry.prTitle) }], [{ text: clean(waits[index]?.why ?? ''), style: 'gray' }]];
    return [number, since, ...lands, ...(width < NARROW ? words.slice(1) : words)];
  });
  return { title, lines: indent(rows, width, width < NARROW ? 1 : 2), count: entries.length };
}

/** `lands in 24 min`; empty without a forecast. */
function landsIn({ forecast }: Entry, now: number): string {
  if (forecast?.landsAtP50 === undefined) return '';
  return `lands ${formatRelative(Math.max(now, Date.parse(forecast.landsAtP50)), now)}`;
}

/** Aligns positions, ` 9. ` above `10. `; empty if no entry has one. */
function alignPlaces(positions: readonly (number | undefined)[]): readonly Cell[] {
  const texts = positions.map((position) => (position === undefined ? '' : `${position}. `));
  const width = Math.max(0, ...texts.map(({ length }) => length));
  return texts.map((text) => (width === 0 ? [] : [{ text: text.padStart(width), style: 'gray' }]));
}

function testedIn({ runs }: Snapshot): ReadonlySet<number> {
  return new Set(runs.flatMap((run) => run.testedPullRequests.map(({ prNumber }) => prNumber)));
}

function numberOf({ prNumber }: Entry): RowPart {
  return { text: `#${prNumber}`, style: 'bold' };
}

/** Marks entries with a priority of their own. */
function urgencyOf({ priorityName, usedDefaultPriorityName, skipTheLine }: Entry): RowPart[] {
  if (usedDefaultPriorityName !== undefined) return [];
  return [{ text: ` ${clean(priorityName)}`, style: skipTheLine ? 'red' : 'yellow' }];
}

const ENDS: Readonly<Record<string, { readonly mark: string; readonly style: Style; readonly word: string }>> = {
  MERGED: { mark: '✓', style: 'green', word: 'landed' },
  FAILED: { mark: '✗', style: 'red', word: 'failed' },
  CANCELLED: { mark: '⊘', style: 'gray', word: 'cancelled' },
};

function renderLeft({ left }: Snapshot, { width, now }: FrameOptions): Section {
  const rows = left.slice(0, MAX_LEFT).map((each): Cell[] => {
    const { mark, style, word } = ENDS[each.state] ?? { mark: '·', style: 'gray' as const, word: each.state };
    const words: Cell[] = [[{ text: clean(each.title) }], [{ text: describeEnd(each), style: 'gray' }]];
    return [
      [
        { text: `${mark} `, style },
        { text: `#${each.prNumber}`, style: 'bold' },
      ],
      [{ text: word, style }],
      [{ text: `${formatElapsed(each.at, now)} ago`, style: 'gray' }],
      ...(width < NARROW ? words.slice(1) : words),
    ];
  });
  return { title: 'Left', lines: indent(rows, width, width < NARROW ? 1 : 2), count: rows.length };
}

/** The mark shows the landing already; the commit says more. */
function describeEnd({ sha, why }: Left): string {
  return sha === undefined ? clean(why) : `as ${sha.slice(0, 9)}`;
}

function indent(rows: readonly (readonly Cell[])[], width: number, loose: number): string[] {
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
