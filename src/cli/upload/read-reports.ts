import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import zlib from 'node:zlib';
import type { TestIds } from '../../flaky/identity/test-id.ts';
import { createJunitParser } from '../../junit/create-junit-parser.ts';
import { createXmlDecoder } from '../../junit/decode-xml.ts';
import type { JunitCase, JunitSummary } from '../../junit/junit-case.ts';
import { relativeCase, reportProblem } from '../../junit/junit-case.ts';
import { createSetupErrors } from '../../junit/setup-case.ts';
import { createOutcomeReader, type Outcome } from './failing-tests.ts';
import { type Packing, packingOf, type ReportFile, readHead } from './find-reports.ts';

export interface ReadReports extends Outcome {
  /** Files that could not be read whole, with the first reason. */
  readonly troubled: readonly { readonly name: string; readonly problem: string }[];
  /** Failures in the reports that belong to no failing test, and errors before any test. */
  readonly unaccounted: number;
}

/** Reads the reports as the server will, to find the failing tests. */
export async function readReports(
  files: readonly ReportFile[],
  { testIds, root }: { readonly testIds: TestIds; readonly root: string },
): Promise<ReadReports> {
  const outcome = createOutcomeReader(testIds);
  const troubled: { name: string; problem: string }[] = [];
  let unaccounted = 0;
  for (const file of files) {
    const setup = createSetupErrors();
    const end = await readReport(file, (cases) => {
      for (const one of cases) if (!setup.take(one)) outcome.add(relativeCase(one, root));
    });
    const problem = setup.tell() ?? end.problem;
    if (problem !== undefined) troubled.push({ name: file.name, problem });
    unaccounted += end.unaccounted + setup.count;
  }
  return { ...outcome.end(), troubled, unaccounted };
}

async function readReport(file: ReportFile, take: (cases: readonly JunitCase[]) => void) {
  const decoder = createXmlDecoder();
  const parser = createJunitParser();
  let problem: string | undefined;
  try {
    for await (const piece of unpack(file.path, packingOf(await readHead(file.path)))) {
      take(parser.write(decoder.write(piece)));
    }
  } catch (error) {
    // Earlier cases count, as they do on the server.
    problem =
      error instanceof NoZstd
        ? error.message
        : `It cannot be read to its end (${(error as NodeJS.ErrnoException).code ?? 'damaged'}).`;
  }
  take(parser.write(decoder.end().text));
  const { cases, summary } = parser.end();
  take(cases);
  return { problem: problem ?? problemOf(summary), unaccounted: summary.unaccounted };
}

class NoZstd extends Error {
  override readonly message =
    `It is packed with zstd, which Node ${process.versions.node} cannot unpack: use gzip, or Node 22.15 or newer.`;
}

function unpack(file: string, packing: Packing): AsyncIterable<Uint8Array> {
  if (packing === 'zstd' && !('createZstdDecompress' in zlib)) throw new NoZstd();
  const source = createReadStream(file, { highWaterMark: 256 * 1024 });
  if (packing === 'none') return source;
  // `pipeline` forwards an error of either stream.
  return pipeline(source, packing === 'gzip' ? zlib.createGunzip() : zlib.createZstdDecompress(), () => undefined);
}

function problemOf(summary: JunitSummary): string | undefined {
  const { issues, seen } = summary;
  const worst = issues.find(({ level }) => level === 'error');
  if (worst === undefined) {
    const problem = reportProblem(summary);
    return problem === null ? undefined : `It ${problem}`;
  }
  const place = worst.line > 1 ? `Line ${worst.line}: ` : '';
  return `${place}${worst.message}${seen.tests === 0 ? ` ${worst.hint}` : ''}`;
}
