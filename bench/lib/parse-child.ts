import { SaxesParser } from 'saxes';
import { createJunitParser } from '../../src/junit/create-junit-parser.ts';
import { createXmlDecoder } from '../../src/junit/decode-xml.ts';
import { reportBytes } from './report.ts';

/**
 * Parses one generated report in a new process. A parser that shares its process with another use of saxes is slower,
 * which does not happen in a server.
 */
interface Task {
  readonly parser: 'saxes' | 'junit';
  readonly megabytes: number;
  readonly rounds: number;
}

export interface ParseResult {
  /** The best round, because other load on the machine only adds time. */
  readonly msPerMegabyte: number;
  readonly cases: number;
  readonly idleBytes: number;
  readonly peakBytes: number;
}

const task = JSON.parse(process.argv[2] ?? '') as Task;
const read = task.parser === 'saxes' ? readWithSaxes : readWithJunit;
const idleBytes = process.memoryUsage.rss();
let [cases, peakBytes] = [0, 0];
const result: ParseResult = { msPerMegabyte: measure(), cases, idleBytes, peakBytes };
process.send?.(result);

/** Parses a prepared report several times, or a generated stream once. The latter measures only memory. */
function measure(): number {
  if (task.rounds === 1) return run(reportBytes(task.megabytes * 1e6)) / task.megabytes;
  const pieces = [...reportBytes(task.megabytes * 1e6)];
  return Math.min(...Array.from({ length: task.rounds }, () => run(pieces))) / task.megabytes;
}

function run(pieces: Iterable<Uint8Array>): number {
  const before = process.threadCpuUsage();
  const reader = read();
  for (const piece of pieces) {
    reader.write(piece);
    peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
  }
  cases = reader.end();
  return msSince(before);
}

/** CPU time of this thread, without other load on the machine. */
function msSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

function readWithSaxes() {
  const decoder = new TextDecoder();
  const parser = new SaxesParser();
  return {
    write: (piece: Uint8Array) => void parser.write(decoder.decode(piece, { stream: true })),
    end: () => {
      parser.close();
      return 0;
    },
  };
}

function readWithJunit() {
  const decoder = createXmlDecoder();
  const parser = createJunitParser();
  let count = 0;
  return {
    write: (piece: Uint8Array) => {
      count += parser.write(decoder.write(piece)).length;
    },
    end: () => {
      count += parser.write(decoder.end().text).length;
      const { cases: last, summary } = parser.end();
      if (!summary.whole || summary.issues.length > 0) throw new Error(JSON.stringify(summary));
      return count + last.length;
    },
  };
}
