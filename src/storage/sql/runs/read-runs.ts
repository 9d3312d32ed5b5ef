import { Fault } from '../../../lib/fault.ts';
import { FORMAT_BATCH, FORMAT_PLACED, HAS_DURATION, HEADER_BYTES, INDEX_ENTRY_BYTES } from './pack-runs.ts';
import { NO_DURATION, type RunColumns } from './run-columns.ts';

/** Packed runs and, where they are of one batch, what each of them has in common. */
export interface PackedRuns {
  readonly bytes: Uint8Array;
  readonly seq: number;
  readonly branchNo: number;
}

/** What chunks say of every run themselves. */
export function packedChunk(bytes: Uint8Array): PackedRuns {
  return { bytes, seq: 0, branchNo: 0 };
}

/** Adds the runs of one test to the columns. */
export function readTest(packed: PackedRuns, testNo: number, into: RunColumns): void {
  readRange(packed, testNo, testNo + 1, into);
}

/** Adds the runs of tests with these numbers, `from` inclusive and `to` exclusive, sorted by number. */
export function readRange(packed: PackedRuns, from: number, to: number, into: RunColumns): void {
  visitRange(packed, { from, to, visit: (run) => pushRun(run, into) });
}

/** Shows the runs of one test, one after the other. */
export function visitTest(packed: PackedRuns, testNo: number, visit: (run: PackedRun) => void): void {
  visitRange(packed, { from: testNo, to: testNo + 1, visit });
}

function visitRange(packed: PackedRuns, wanted: Wanted): void {
  const { from, to } = wanted;
  const { bytes } = packed;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = countEntries(view);
  const entry = findEntry(view, entries, from);
  const cursor = createCursor(packed, view.getUint8(0) === FORMAT_PLACED);
  for (let index = entry; index < entries; index++) {
    const testNo = view.getUint32(HEADER_BYTES + index * INDEX_ENTRY_BYTES, true);
    if (testNo >= to) return;
    const start = offsetOf(view, index);
    const end = index + 1 < entries ? offsetOf(view, index + 1) : bytes.length;
    if (readSections(cursor, { start, end, testNo }, wanted)) return;
  }
}

export function readAll(packed: PackedRuns, into: RunColumns): void {
  readRange(packed, 0, Number.POSITIVE_INFINITY, into);
}

interface Wanted {
  readonly from: number;
  readonly to: number;
  readonly visit: (run: PackedRun) => void;
}

/** The same object for each run of a visit. */
export interface PackedRun {
  readonly testNo: number;
  readonly startedAt: number;
  readonly flags: number;
  readonly duration: number;
  readonly seq: number;
  readonly branchNo: number;
}

/** The sections that one entry of the index begins; true: no later one is wanted. */
function readSections(
  cursor: Cursor,
  place: { readonly start: number; readonly end: number; readonly testNo: number },
  { from, to, visit }: Wanted,
): boolean {
  cursor.moveTo(place.start);
  let { testNo } = place;
  while (cursor.position() < place.end) {
    testNo += cursor.unsigned();
    if (testNo >= to) return true;
    const count = cursor.unsigned();
    cursor.last.testNo = testNo;
    if (testNo < from) for (let run = 0; run < count; run++) cursor.run();
    else for (let run = 0; run < count; run++) visit(cursor.run());
  }
  return false;
}

export function pushRun(run: PackedRun, into: RunColumns): void {
  into.testNo.push(run.testNo);
  into.startedAt.push(run.startedAt);
  into.flags.push(run.flags);
  into.duration.push(run.duration);
  into.seq.push(run.seq);
  into.branchNo.push(run.branchNo);
}

interface Cursor {
  /** The run that was read last. */
  readonly last: PackedRun & { testNo: number };
  position(): number;
  moveTo(position: number): void;
  unsigned(): number;
  run(): PackedRun;
}

function createCursor({ bytes, seq, branchNo }: PackedRuns, isPlaced: boolean): Cursor {
  let position = 0;
  const last = { testNo: 0, startedAt: 0, flags: 0, duration: NO_DURATION, seq, branchNo };
  const unsigned = () => {
    let byte = bytes[position++] ?? 0;
    if (byte < 128) return byte;
    let value = byte & 127;
    for (let factor = 128; byte >= 128; factor *= 128) {
      if (position >= bytes.length) throw damaged();
      byte = bytes[position++] as number;
      value += (byte & 127) * factor;
    }
    return value;
  };
  const signed = () => {
    const value = unsigned();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  };
  return {
    last,
    position: () => position,
    moveTo(start) {
      position = start;
      last.startedAt = 0;
      if (isPlaced) last.seq = 0;
    },
    unsigned,
    run() {
      if (position >= bytes.length) throw damaged();
      const head = bytes[position++] as number;
      last.flags = head & ~HAS_DURATION;
      last.startedAt += signed();
      last.duration = head & HAS_DURATION ? unsigned() : NO_DURATION;
      if (!isPlaced) return last;
      last.seq += signed();
      last.branchNo = unsigned();
      return last;
    },
  };
}

function countEntries(view: DataView): number {
  if (view.byteLength < HEADER_BYTES) throw damaged();
  const format = view.getUint8(0);
  const entries = view.getUint32(1, true);
  const isWhole = HEADER_BYTES + entries * INDEX_ENTRY_BYTES <= view.byteLength;
  if ((format !== FORMAT_BATCH && format !== FORMAT_PLACED) || !isWhole) throw damaged();
  return entries;
}

function offsetOf(view: DataView, entry: number): number {
  return view.getUint32(HEADER_BYTES + entry * INDEX_ENTRY_BYTES + 4, true);
}

/** The last entry that does not begin behind the test; the first where all do. */
function findEntry(view: DataView, entries: number, testNo: number): number {
  let [low, high] = [0, entries - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (view.getUint32(HEADER_BYTES + middle * INDEX_ENTRY_BYTES, true) <= testNo) low = middle;
    else high = middle - 1;
  }
  return low;
}

function damaged(): Fault {
  return new Fault('STORE_UNAVAILABLE', 'Runs of tests cannot be read: what is stored of them is damaged.');
}
