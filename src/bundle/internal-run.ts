import { cutBytes } from '../lib/text.ts';
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
  readonly status: RunStatus;
  /** From 0. */
  readonly attempt: number | null;
  /** Milliseconds; null: unknown. */
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  readonly codeOwners: readonly string[];
  readonly output: RunOutput | null;
  readonly bazelLabel: string | null;
}

export type RunStatus = 'UNSPECIFIED' | 'SUCCESS' | 'FAILURE' | 'SKIPPED';
const STATUSES: readonly RunStatus[] = ['UNSPECIFIED', 'SUCCESS', 'FAILURE', 'SKIPPED'];

export interface RunOutput {
  readonly text: string;
  readonly message: string;
}

/** Bazel's verdict on a target. */
export interface BazelBuild {
  readonly kind: 'build';
  readonly label: string;
  readonly result: 'UNSPECIFIED' | 'SUCCESS' | 'FAILURE' | 'SKIPPED' | 'FLAKY';
}

const RESULTS: readonly BazelBuild['result'][] = ['UNSPECIFIED', 'SUCCESS', 'FAILURE', 'SKIPPED', 'FLAKY'];

/** The uploader cuts names at this length, so a longer one comes from another tool. */
const MAX_NAME_BYTES = 8_000;
/** Characters; the beginning says most. */
const MAX_OUTPUT_LENGTH = 64 * 1024;
const MAX_OWNERS = 100;

/** The wire type of each field by its number, which tells one message from another. */
export const RUN_WIRE_TYPES = wireTypes('LLLLLVVVLLLVLLLLL');
const BUILD_WIRE_TYPES = wireTypes('LV');

function wireTypes(letters: string): readonly number[] {
  return [-1, ...[...letters].map((letter) => (letter === 'L' ? LENGTH : VARINT))];
}

/** Milliseconds, from seconds and nanoseconds. */
type Timestamp = number | null;

interface Draft {
  names: string[];
  status: RunStatus;
  attempt: number | null;
  oldAttempt: number | null;
  startedAt: Timestamp;
  finishedAt: Timestamp;
  oldMessage: string;
  codeOwners: string[];
  output: RunOutput | null;
  bazel: { label: string; attempt: number | null } | null;
}

export function decodeRun(cursor: Cursor): InternalRun {
  const draft: Draft = {
    names: ['', '', '', '', '', ''],
    status: 'UNSPECIFIED',
    attempt: null,
    oldAttempt: null,
    startedAt: null,
    finishedAt: null,
    oldMessage: '',
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
  else if (number === 7) draft.status = STATUSES[value.number] ?? 'UNSPECIFIED';
  else if (number === 8) draft.oldAttempt = countOf(value);
  else if (number === 9) draft.startedAt = decodeTimestamp(value);
  else if (number === 10) draft.finishedAt = decodeTimestamp(value);
  else if (number === 11) draft.oldMessage = textOf(value).slice(0, MAX_OUTPUT_LENGTH);
  else if (number === 13) addOwner(draft.codeOwners, value);
  else if (number === 14) draft.attempt = decodeNumber(value);
  else if (number === 16) draft.output = decodeOutput(value);
  else if (number === 17) draft.bazel = decodeBazelRun(value);
}

function finishRun(draft: Draft): InternalRun {
  const [, infoId = '', name = '', classname = '', file = '', parent = ''] = draft.names;
  const { startedAt, finishedAt, oldMessage } = draft;
  const spanMs = finishedAt === null || startedAt === null ? null : finishedAt - startedAt;
  const old = oldMessage === '' ? null : { text: oldMessage, message: '' };
  // Writers that know only the old fields omit a 0, which also means "none".
  return {
    kind: 'run',
    infoId,
    name,
    classname,
    file,
    parent,
    status: draft.status,
    attempt: draft.bazel?.attempt ?? draft.attempt ?? (draft.oldAttempt || null),
    // The uploader writes 1970 for a report without timestamps; the duration is still right.
    startedAt: startedAt === 0 ? null : startedAt,
    durationMs: spanMs === null || spanMs < 0 ? null : spanMs,
    codeOwners: draft.codeOwners,
    output: draft.output ?? old,
    bazelLabel: draft.bazel?.label ?? null,
  };
}

export function decodeBuild(cursor: Cursor): BazelBuild {
  let label = '';
  let result: BazelBuild['result'] = 'UNSPECIFIED';
  readMessage(cursor, (number, value) => {
    if (value.wireType !== BUILD_WIRE_TYPES[number]) return;
    if (number === 1) label = cutBytes(textOf(value), MAX_NAME_BYTES);
    else result = RESULTS[value.number] ?? 'UNSPECIFIED';
  });
  return { kind: 'build', label, result };
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
  let text = '';
  let message = '';
  readMessage(within(value), (number, part) => {
    if (part.wireType !== LENGTH) return;
    if (number === 1) text = textOf(part).slice(0, MAX_OUTPUT_LENGTH);
    else if (number === 2) message = textOf(part).slice(0, MAX_OUTPUT_LENGTH);
  });
  return { text, message };
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
