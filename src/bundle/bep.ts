// Bazel's build event protocol as JSON: objects one after the other, with or without anything between them.

import type { Issue } from '../flaky/identity/issue.ts';
import { cutBytes } from '../flaky/identity/variant.ts';
import { splitJson } from './split-json.ts';
import { Unreadable } from './unreadable.ts';

/** What Bazel says of a target as a whole. */
export interface BepSummary {
  readonly kind: 'summary';
  readonly label: string;
  readonly status: string;
  /** Milliseconds. */
  readonly firstStartedAt: number | null;
  readonly lastStoppedAt: number | null;
}

/** One attempt of one shard of one run of a target. */
export interface BepResult {
  readonly kind: 'result';
  readonly label: string;
  readonly status: string;
  /** From 0. */
  readonly attempt: number;
  readonly run: number;
  readonly shard: number;
  readonly isCached: boolean;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  /** Reports it wrote. */
  readonly xmlUris: readonly string[];
}

export interface BepOptions {
  readonly file: string;
  readonly onIssue: (issue: Issue) => void;
  readonly maxEventBytes?: number;
  readonly maxEvents?: number;
}

/** Events about tests are small; others, which are passed over, may list every file of a build. */
const MAX_EVENT_BYTES = 4 * 1024 ** 2;
/** An empty one has two bytes. */
const MAX_EVENTS = 10_000_000;
const MAX_LABEL_BYTES = 8_000;
const MAX_OUTPUTS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

/** The events about tests; all others are passed over. */
export async function* decodeBep(
  source: AsyncIterable<Uint8Array>,
  options: BepOptions,
): AsyncGenerator<BepSummary | BepResult> {
  const { file, onIssue, maxEventBytes = MAX_EVENT_BYTES, maxEvents = MAX_EVENTS } = options;
  let count = 0;
  const warn = (message: string, hint: string) => onIssue({ level: 'warning', file, line: null, message, hint });
  for await (const text of splitJson(source, maxEventBytes)) {
    count += 1;
    if (count > maxEvents) throw new Unreadable('TOO_BIG', `There are more than ${maxEvents} build events.`);
    if (text.kind === 'too-long') {
      warn('An event is too big and is left out.', 'Only events about tests are needed.');
      continue;
    }
    if (text.kind === 'cut') {
      warn('The last event is cut off.', 'Was the build interrupted?');
      continue;
    }
    const event = parseEvent(text.text);
    if (event !== undefined) yield event;
  }
}

function parseEvent(text: string): BepSummary | BepResult | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Unreadable('DAMAGED', 'The build events are not JSON.', { cause: error });
  }
  const event = fieldsOf(value);
  const id = fieldsOf(event['id']);
  if (isObject(id['testSummary']) && isObject(event['testSummary'])) {
    return parseSummary(fieldsOf(id['testSummary']), event['testSummary']);
  }
  if (isObject(id['testResult']) && isObject(event['testResult'])) {
    return parseResult(fieldsOf(id['testResult']), event['testResult']);
  }
  return undefined;
}

function parseSummary(id: Fields, summary: Fields): BepSummary {
  return {
    kind: 'summary',
    label: labelOf(id),
    status: textOf(summary['overallStatus']),
    firstStartedAt: instantOf(summary['firstStartTime'], summary['firstStartTimeMillis']),
    lastStoppedAt: instantOf(summary['lastStopTime'], summary['lastStopTimeMillis']),
  };
}

function parseResult(id: Fields, result: Fields): BepResult {
  const isCachedRemotely = fieldsOf(result['executionInfo'])['cachedRemotely'] === true;
  const outputs = Array.isArray(result['testActionOutput']) ? result['testActionOutput'] : [];
  const uris = outputs.slice(0, MAX_OUTPUTS).map((output) => textOf(fieldsOf(output)['uri']));
  return {
    kind: 'result',
    label: labelOf(id),
    status: textOf(result['status']),
    // Bazel counts attempts from 1.
    attempt: Math.max(0, (numberOf(id['attempt']) ?? 1) - 1),
    run: numberOf(id['run']) ?? 0,
    shard: numberOf(id['shard']) ?? 0,
    isCached: result['cachedLocally'] === true || isCachedRemotely,
    startedAt: instantOf(result['testAttemptStart'], result['testAttemptStartMillisEpoch']),
    durationMs: durationOf(result['testAttemptDuration'], result['testAttemptDurationMillis']),
    xmlUris: uris.filter((uri) => uri.endsWith('.xml')),
  };
}

/** Newer events have an RFC 3339 text, older ones milliseconds, which JSON of protobuf writes as text as well. */
function instantOf(text: unknown, millis: unknown): number | null {
  const parsed = typeof text === 'string' && text.length < 64 ? Date.parse(text) : Number.NaN;
  return Number.isNaN(parsed) ? numberOf(millis) : parsed;
}

/** `1.5s`, as JSON of protobuf writes durations. */
function durationOf(text: unknown, millis: unknown): number | null {
  const seconds = typeof text === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(text)?.[1] : undefined;
  return seconds === undefined ? numberOf(millis) : Math.round(Number(seconds) * 1e6) / 1e3;
}

function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function labelOf(id: Fields): string {
  return cutBytes(textOf(id['label']), MAX_LABEL_BYTES);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}
