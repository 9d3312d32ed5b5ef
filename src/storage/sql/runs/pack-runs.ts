/**
 * Runs as bytes, some nine for each. They are sorted by the number of their test, and an index says where tests begin:
 * one test is read without the others.
 *
 *   byte      format, 1 (runs of one batch) or 2 (each run says its batch and branch)
 *   u32       how many index entries there are
 *   entries   u32 number of a test, u32 where its section begins
 *   sections  one for each test: number (difference to the section before, none where the index names it), how many
 *             runs, and the runs: flags, start (difference to the run before), duration, batch (difference), branch
 *
 * The numbers of sections are of seven bits a byte, the lowest first.
 */
import { assert } from '../../../lib/assert.ts';
import { type ByteWriter, createByteWriter } from './byte-writer.ts';
import { NO_DURATION, type RunColumns } from './run-columns.ts';

export const FORMAT_BATCH = 1;
export const FORMAT_PLACED = 2;
export const HEADER_BYTES = 5;
export const INDEX_ENTRY_BYTES = 8;
/** Above the conclusion and the quarantine. */
export const HAS_DURATION = 8;
/** Of a batch, a test has a run or two: walking to it costs less than an entry for each. A chunk holds many of few tests. */
const SECTIONS_PER_ENTRY = { [FORMAT_BATCH]: 32, [FORMAT_PLACED]: 1 };

const MAX_TEST_NO = 2 ** 32 - 1;
/** Twice of it is still exact. */
const MAX_INSTANT = 2 ** 51;
/** How many runs can be told apart in the key that they are sorted by. */
const MAX_RUNS = 2 ** 20;

export function packRuns(runs: RunColumns, format: typeof FORMAT_BATCH | typeof FORMAT_PLACED): Uint8Array {
  const order = orderByTest(runs.testNo);
  const entries: number[] = [];
  const body = createByteWriter(order.length * 10 + 16);
  let sections = 0;
  const before = { testNo: 0, startedAt: 0, seq: 0 };
  for (let at = 0; at < order.length; ) {
    const testNo = runs.testNo[order[at] as number] as number;
    let end = at + 1;
    while (end < order.length && runs.testNo[order[end] as number] === testNo) end++;
    if (sections % SECTIONS_PER_ENTRY[format] === 0) {
      entries.push(testNo, body.length());
      Object.assign(before, { testNo, startedAt: 0, seq: 0 });
    }
    body.unsigned(testNo - before.testNo);
    body.unsigned(end - at);
    before.testNo = testNo;
    for (; at < end; at++) writeRun(body, runs, { index: order[at] as number, before, format });
    sections += 1;
  }
  return withHeader(format, entries, body.bytes());
}

interface Place {
  readonly index: number;
  readonly before: { startedAt: number; seq: number };
  readonly format: number;
}

function writeRun(body: ByteWriter, runs: RunColumns, { index, before, format }: Place): void {
  const startedAt = runs.startedAt[index] as number;
  const duration = runs.duration[index] as number;
  assert(Math.abs(startedAt) < MAX_INSTANT && Number.isInteger(startedAt), `${startedAt} is no instant to be stored`);
  body.byte((runs.flags[index] as number) | (duration === NO_DURATION ? 0 : HAS_DURATION));
  body.signed(startedAt - before.startedAt);
  before.startedAt = startedAt;
  if (duration !== NO_DURATION) body.unsigned(duration);
  if (format !== FORMAT_PLACED) return;
  const seq = runs.seq[index] as number;
  body.signed(seq - before.seq);
  before.seq = seq;
  body.unsigned(runs.branchNo[index] as number);
}

/** Stable: runs of one test stay in their order. */
function orderByTest(testNos: readonly number[]): ArrayLike<number> {
  const keys = new Float64Array(testNos.length);
  assert(testNos.length <= MAX_RUNS, 'too many runs for one block');
  let isSorted = true;
  for (let index = 0; index < testNos.length; index++) {
    const testNo = testNos[index] as number;
    assert(Number.isInteger(testNo) && testNo >= 0 && testNo <= MAX_TEST_NO, `${testNo} is no number of a test`);
    if (index > 0 && testNo < (testNos[index - 1] as number)) isSorted = false;
    keys[index] = testNo * MAX_RUNS + index;
  }
  if (!isSorted) keys.sort();
  for (let index = 0; index < keys.length; index++) keys[index] = (keys[index] as number) % MAX_RUNS;
  return keys;
}

function withHeader(format: number, entries: readonly number[], body: Uint8Array): Uint8Array {
  const start = HEADER_BYTES + entries.length * (INDEX_ENTRY_BYTES / 2);
  const bytes = new Uint8Array(start + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, format);
  view.setUint32(1, entries.length / 2, true);
  entries.forEach((value, index) => {
    view.setUint32(HEADER_BYTES + index * 4, index % 2 === 0 ? value : value + start, true);
  });
  bytes.set(body, start);
  return bytes;
}
