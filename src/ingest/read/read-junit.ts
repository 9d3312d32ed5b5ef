import { Unreadable } from '../../bundle/unreadable.ts';
import { checkCase, createFindingCounts, type FindingCounts } from '../../flaky/identity/validate.ts';
import { createJunitParser } from '../../junit/create-junit-parser.ts';
import { createXmlDecoder } from '../../junit/decode-xml.ts';
import type { JunitCase, JunitSummary } from '../../junit/junit-case.ts';
import { relativeCase, reportProblem } from '../../junit/junit-case.ts';
import type { JunitLimits } from '../../junit/limits.ts';
import { createSetupErrors } from '../../junit/setup-case.ts';
import { addCaseRuns, type CaseSources } from './case-runs.ts';
import type { ReadRun } from './read-run.ts';
import type { UploadIssues } from './upload-issues.ts';

export interface JunitSources extends CaseSources {
  /** The name that people see. */
  readonly file: string;
  readonly issues: UploadIssues;
  readonly limits: JunitLimits;
  /** The folder that paths are relative to; null: unknown. */
  readonly root?: string | null;
  /** Called for every case that failed. */
  readonly onFailing?: (test: JunitCase) => void;
}

/** The result of reading one file. */
export interface FileEnd {
  /** Why the report is incomplete, as a sentence; null: it was read to its end and holds all that it declares. */
  readonly problem: string | null;
  /** Why reading stopped early. */
  readonly unreadable?: Unreadable | undefined;
  /** Number of cases in a report. */
  readonly cases?: number;
}

/** Runs per array. */
export const RUNS_AT_ONCE = 1_000;
/** Holds a few thousand cases. A source may deliver all bytes at once, so they are cut into pieces. */
const PIECE_BYTES = 128 * 1024;
const MAX_PIECES = 16;

/** Reads the runs of one report. Unreadable bytes end it; complete cases before them are used. */
export async function* readJunit(
  source: AsyncIterable<Uint8Array>,
  sources: JunitSources,
): AsyncGenerator<readonly ReadRun[], FileEnd> {
  const { file, issues, receivedAt } = sources;
  const decoder = createXmlDecoder();
  const parser = createJunitParser(sources.limits);
  const findings = createFindingCounts();
  const setup = createSetupErrors();
  let runs: ReadRun[] = [];
  let pieces = 0;
  const add = (cases: readonly JunitCase[]) => {
    for (const each of cases) {
      const test = relativeCase(each, sources.root ?? null);
      if (test.status === 'failure') {
        sources.onFailing?.(test);
        if (setup.take(each)) continue;
      }
      check(test, findings, receivedAt);
      addCaseRuns(runs, test, sources);
    }
  };
  let unreadable: Unreadable | undefined;
  try {
    for await (const chunk of source) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        add(parser.write(decoder.write(chunk.subarray(at, at + PIECE_BYTES))));
        pieces += 1;
        // A large text without a case is read in steps, too.
        if (runs.length < RUNS_AT_ONCE && pieces < MAX_PIECES) continue;
        yield runs;
        runs = [];
        pieces = 0;
      }
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    unreadable = error;
  }
  const end = decoder.end();
  add(parser.write(end.text));
  const { cases, summary } = parser.end();
  add(cases);
  if (runs.length > 0) yield runs;

  if (unreadable !== undefined) issues.add(unreadableIssue(unreadable, file));
  // Before those that follow from it: gotestsum declares other counts then.
  issues.addSetup(file, setup);
  for (const issue of [...decoderIssues(end), ...summary.issues]) issues.add({ ...issue, file });
  for (const issue of findings.list(file)) issues.add(issue);
  return { problem: problemOf(summary, unreadable, file), unreadable, cases: summary.seen.tests };
}

/** A placeholder: the parser itself reports missing suites. */
const SUITE = 'a suite';

function check(test: JunitCase, findings: FindingCounts, receivedAt: number): void {
  const found = checkCase(
    {
      suite: SUITE,
      name: test.name,
      classname: test.classname ?? '',
      file: test.file ?? '',
      startedAt: test.timestampAt,
      durationMs: test.durationMs,
    },
    receivedAt,
  );
  if (found.length > 0) findings.count(found, test.line);
}

function decoderIssues(end: { readonly refusedEncoding: string | null; readonly hasInvalidBytes: boolean }) {
  const found = [];
  if (end.refusedEncoding !== null) {
    const message = `The encoding ${end.refusedEncoding} is not the file's, or is not known; it was read as UTF-8.`;
    found.push({ level: 'warning' as const, line: 1, message, hint: 'Write the report in UTF-8.' });
  }
  if (end.hasInvalidBytes) {
    const message = 'The file holds bytes that are no characters of its encoding; they were replaced.';
    found.push({ level: 'warning' as const, line: null, message, hint: 'Declare the encoding that was written.' });
  }
  return found;
}

export function unreadableIssue(error: Unreadable, file: string | null) {
  const hint = HINTS[error.code];
  return { level: 'error' as const, file, line: null, message: error.detail, hint };
}

const HINTS: Readonly<Record<Unreadable['code'], string>> = {
  NOT_A_BUNDLE: 'Send what the content encoding says, or no encoding.',
  TRUNCATED: 'Was the upload, or whatever wrote it, interrupted? What was complete has been used.',
  DAMAGED: 'Upload it again. What was complete before the damage has been used.',
  TOO_BIG: 'Split the reports into several uploads.',
  UNSAFE: 'Pack files only, by their paths inside the archive.',
  BAD_META: 'Use the uploader as it is.',
};

function problemOf(summary: JunitSummary, unreadable: Unreadable | undefined, file: string): string | null {
  if (unreadable !== undefined) return `${file} could not be read to its end: ${unreadable.detail}`;
  const problem = reportProblem(summary);
  return problem === null ? null : `${file} ${problem}`;
}
