// Bazel's build event protocol as JSON: one object after another, with or without separators.

import type { Issue } from '../flaky/identity/issue.ts';
import { cutBytes } from '../lib/text.ts';
import { Unreadable } from './unreadable.ts';

/** Bazel's verdict on a whole target. */
export interface BepSummary {
  readonly kind: 'summary';
  readonly label: string;
  readonly status: string;
}

/** One attempt of one shard of one run of a target. */
export interface BepResult {
  readonly kind: 'result';
  readonly label: string;
  readonly status: string;
  /** From 0. */
  readonly attempt: number;
  readonly isCached: boolean;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
}

export interface BepOptions {
  readonly file: string;
  readonly onIssue: (issue: Issue) => void;
  readonly maxEventBytes?: number;
  readonly maxEvents?: number;
}

/** Events about tests are small. Other events are skipped, and may list every file of a build. */
const MAX_EVENT_BYTES = 4 * 1024 ** 2;
/** An empty event has two bytes. */
const MAX_EVENTS = 10_000_000;
const MAX_LABEL_BYTES = 8_000;

type Fields = Readonly<Record<string, unknown>>;

// SPEC U8
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
  return { kind: 'summary', label: labelOf(id), status: textOf(summary['overallStatus']) };
}

function parseResult(id: Fields, result: Fields): BepResult {
  const isCachedRemotely = fieldsOf(result['executionInfo'])['cachedRemotely'] === true;
  return {
    kind: 'result',
    label: labelOf(id),
    status: textOf(result['status']),
    // Bazel counts attempts from 1.
    attempt: Math.max(0, (numberOf(id['attempt']) ?? 1) - 1),
    isCached: result['cachedLocally'] === true || isCachedRemotely,
    startedAt: instantOf(result['testAttemptStart'], result['testAttemptStartMillisEpoch']),
    durationMs: durationOf(result['testAttemptDuration'], result['testAttemptDurationMillis']),
  };
}

/** Newer events have an RFC 3339 text, older ones milliseconds, which protobuf's JSON also writes as text. */
function instantOf(text: unknown, millis: unknown): number | null {
  const parsed = typeof text === 'string' && text.length < 64 ? Date.parse(text) : Number.NaN;
  return Number.isNaN(parsed) ? numberOf(millis) : parsed;
}

/** `1.5s`, as protobuf's JSON writes durations. */
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

/** One object of the stream; `too-long`: it was skipped; `cut`: the stream ends within it. */
type JsonText =
  | { readonly kind: 'object'; readonly text: string }
  | { readonly kind: 'too-long' }
  | { readonly kind: 'cut' };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** Finds the bounds of objects without parsing them. All relevant bytes are ASCII. */
async function* splitJson(source: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<JsonText> {
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let length = 0;
  let parts: Uint8Array[] = [];
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  for await (const chunk of source) {
    let from = 0;
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === OPEN) {
        if (depth === 0) from = i;
        depth += 1;
      } else if (depth === 0) {
        if (!isBlank(byte)) throw new Unreadable('DAMAGED', 'The build events are not JSON objects.');
      } else if (byte === QUOTE) {
        isInText = true;
      } else if (byte === CLOSE) {
        depth -= 1;
        if (depth > 0) continue;
        keep(chunk.subarray(from, i + 1));
        yield length > maxBytes
          ? { kind: 'too-long' }
          : { kind: 'object', text: Buffer.concat(parts).toString('utf8') };
        parts = [];
        length = 0;
      }
    }
    // A copy, because the source may reuse its chunk.
    if (depth > 0) keep(Uint8Array.from(chunk.subarray(from)));
  }
  if (depth > 0) yield { kind: 'cut' };
}

/** Blanks, line ends, byte order marks, and the comma that some tools write between objects. */
function isBlank(byte: number): boolean {
  if (byte === 0xef || byte === 0xbb || byte === 0xbf) return true;
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0x2c;
}
