import { cutBytes } from '../flaky/identity/test-id.ts';
import { type Cursor, countOf, type FieldValue, LENGTH, readMessage, textOf, VARINT, within } from './protobuf.ts';

/** One execution of a test, as the uploader read it from a report. Empty: unknown. */
export interface InternalRun {
  readonly kind: 'run';
  /** The `id` attribute of the report. */
  readonly infoId: string;
  readonly name: string;
  readonly classname: string;
  readonly file: string;
  readonly parent: string;
  readonly line: number | null;
  readonly status: RunStatus;
  /** From 0. */
  readonly attempt: number | null;
  /** Milliseconds; null: unknown. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  readonly isQuarantined: boolean;
  readonly codeOwners: readonly string[];
  readonly output: RunOutput | null;
  readonly bazelLabel: string | null;
}

export type RunStatus = 'UNSPECIFIED' | 'SUCCESS' | 'FAILURE' | 'SKIPPED';
const STATUSES: readonly RunStatus[] = ['UNSPECIFIED', 'SUCCESS', 'FAILURE', 'SKIPPED'];

export interface RunOutput {
  readonly text: string;
  readonly message: string;
  readonly systemOut: string;
  readonly systemErr: string;
}

/** Bazel's verdict on a target. */
export interface BazelBuild {
  readonly kind: 'build';
  readonly label: string;
  readonly result: 'UNSPECIFIED' | 'SUCCESS' | 'FAILURE' | 'SKIPPED' | 'FLAKY';
  readonly maxAttempt: number | null;
}

const RESULTS: readonly BazelBuild['result'][] = ['UNSPECIFIED', 'SUCCESS', 'FAILURE', 'SKIPPED', 'FLAKY'];

export interface Uploader {
  readonly kind: 'uploader';
  readonly version: string;
  /** `rspec` for the RSpec plugin. */
  readonly origin: string;
  readonly uploadedAt: number | null;
  readonly variant: string;
}

/** The uploader cuts names at this length, so a longer one comes from another tool. */
const MAX_NAME_BYTES = 8_000;
/** Characters; the beginning says most. */
const MAX_OUTPUT_LENGTH = 64 * 1024;
const MAX_OWNERS = 100;

/** The wire type of each field by its number, which tells one message from another. */
export const RUN_WIRE_TYPES = wireTypes('LLLLLVVVLLLVLLLLL');
const BUILD_WIRE_TYPES = wireTypes('LVL');
const UPLOADER_WIRE_TYPES = wireTypes('LLLL');

function wireTypes(letters: string): readonly number[] {
  return [-1, ...[...letters].map((letter) => (letter === 'L' ? LENGTH : VARINT))];
}

/** Milliseconds, from seconds and nanoseconds. */
type Timestamp = number | null;

interface Draft {
  names: string[];
  line: number | null;
  oldLine: number | null;
  status: RunStatus;
  attempt: number | null;
  oldAttempt: number | null;
  startedAt: Timestamp;
  finishedAt: Timestamp;
  oldMessage: string;
  isQuarantined: boolean;
  codeOwners: string[];
  output: RunOutput | null;
  bazel: { label: string; attempt: number | null } | null;
}

export function decodeRun(cursor: Cursor): InternalRun {
  const draft: Draft = {
    names: ['', '', '', '', '', ''],
    line: null,
    oldLine: null,
    status: 'UNSPECIFIED',
    attempt: null,
    oldAttempt: null,
    startedAt: null,
    finishedAt: null,
    oldMessage: '',
    isQuarantined: false,
    codeOwners: [],
    output: null,
    bazel: null,
  };
  readMessage(cursor, (number, value) => {
    // A field with an unexpected wire type comes from a later version and is skipped.
    if (value.wireType === RUN_WIRE_TYPES[number]) readRunField(draft, number, value);
  });
  return finishRun(draft);
}

function readRunField(draft: Draft, number: number, value: FieldValue): void {
  if (number <= 5) draft.names[number] = cutBytes(textOf(value), MAX_NAME_BYTES);
  else if (number === 6) draft.oldLine = countOf(value);
  else if (number === 7) draft.status = STATUSES[value.number] ?? 'UNSPECIFIED';
  else if (number === 8) draft.oldAttempt = countOf(value);
  else if (number === 9) draft.startedAt = decodeTimestamp(value);
  else if (number === 10) draft.finishedAt = decodeTimestamp(value);
  else if (number === 11) draft.oldMessage = textOf(value).slice(0, MAX_OUTPUT_LENGTH);
  else if (number === 12) draft.isQuarantined = value.number !== 0;
  else if (number === 13) addOwner(draft.codeOwners, value);
  else if (number === 14) draft.attempt = decodeNumber(value);
  else if (number === 15) draft.line = decodeNumber(value);
  else if (number === 16) draft.output = decodeOutput(value);
  else if (number === 17) draft.bazel = decodeBazelRun(value);
}

function finishRun(draft: Draft): InternalRun {
  const [, infoId = '', name = '', classname = '', file = '', parent = ''] = draft.names;
  const { startedAt, finishedAt, oldMessage } = draft;
  const spanMs = finishedAt === null || startedAt === null ? null : finishedAt - startedAt;
  const old = oldMessage === '' ? null : { text: oldMessage, message: '', systemOut: '', systemErr: '' };
  // Writers that know only the old fields omit a 0, which also means "none".
  return {
    kind: 'run',
    infoId,
    name,
    classname,
    file,
    parent,
    line: draft.line ?? (draft.oldLine || null),
    status: draft.status,
    attempt: draft.bazel?.attempt ?? draft.attempt ?? (draft.oldAttempt || null),
    // The uploader writes 1970 for a report without timestamps; the duration is still right.
    startedAt: startedAt === 0 ? null : startedAt,
    durationMs: spanMs === null || spanMs < 0 ? null : spanMs,
    isQuarantined: draft.isQuarantined,
    codeOwners: draft.codeOwners,
    output: draft.output ?? old,
    bazelLabel: draft.bazel?.label ?? null,
  };
}

export function decodeBuild(cursor: Cursor): BazelBuild {
  let label = '';
  let result: BazelBuild['result'] = 'UNSPECIFIED';
  let maxAttempt: number | null = null;
  readMessage(cursor, (number, value) => {
    if (value.wireType !== BUILD_WIRE_TYPES[number]) return;
    if (number === 1) label = cutBytes(textOf(value), MAX_NAME_BYTES);
    else if (number === 2) result = RESULTS[value.number] ?? 'UNSPECIFIED';
    else maxAttempt = decodeNumber(value);
  });
  return { kind: 'build', label, result, maxAttempt };
}

export function decodeUploader(cursor: Cursor): Uploader {
  const texts = ['', '', '', '', ''];
  let uploadedAt: number | null = null;
  readMessage(cursor, (number, value) => {
    if (value.wireType !== UPLOADER_WIRE_TYPES[number]) return;
    if (number === 3) uploadedAt = decodeTimestamp(value);
    else texts[number] = cutBytes(textOf(value), MAX_NAME_BYTES);
  });
  return { kind: 'uploader', version: texts[1] ?? '', origin: texts[2] ?? '', uploadedAt, variant: texts[4] ?? '' };
}

/** Nanoseconds may exceed a second: the uploader adds without carrying. Null: outside the range of Date. */
function decodeTimestamp(value: FieldValue): Timestamp {
  let seconds = 0;
  let nanos = 0;
  readMessage(within(value), (number, part) => {
    if (part.wireType !== VARINT) return;
    if (number === 1) seconds = part.number;
    else if (number === 2) nanos = part.number;
  });
  const ms = seconds * 1_000 + nanos / 1_000_000;
  return seconds < 8_640_000_000_000 && nanos <= 0x7fffffff ? ms : null;
}

function decodeNumber(value: FieldValue): number | null {
  let found: number | null = 0;
  readMessage(within(value), (number, part) => {
    if (number === 1) found = countOf(part);
  });
  return found;
}

function decodeOutput(value: FieldValue): RunOutput {
  const texts = ['', '', '', '', ''];
  readMessage(within(value), (number, part) => {
    if (number <= 4 && part.wireType === LENGTH) texts[number] = textOf(part).slice(0, MAX_OUTPUT_LENGTH);
  });
  const [, text = '', message = '', systemOut = '', systemErr = ''] = texts;
  return { text, message, systemOut, systemErr };
}

function decodeBazelRun(value: FieldValue): { label: string; attempt: number | null } {
  let label = '';
  let attempt: number | null = 0;
  readMessage(within(value), (number, part) => {
    if (number === 1 && part.wireType === LENGTH) label = cutBytes(textOf(part), MAX_NAME_BYTES);
    else if (number === 2) attempt = countOf(part);
  });
  return { label, attempt };
}

function addOwner(owners: string[], value: FieldValue): void {
  readMessage(within(value), (number, part) => {
    if (number !== 1 || part.wireType !== LENGTH || owners.length >= MAX_OWNERS) return;
    owners.push(cutBytes(textOf(part), MAX_NAME_BYTES));
  });
}
