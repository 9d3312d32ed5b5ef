import type { InternalRun, RunOutput } from '../../bundle/internal-run.ts';
import type { FailureText } from '../../flaky/failure-group.ts';
import { checkCase, type FindingCounts, type IdentityFinding } from '../../flaky/identity/validate.ts';
import { cleanText } from '../../junit/clean-text.ts';
import { toldMessage } from '../../junit/junit-case.ts';
import type { MaybeTest } from '../../junit/setup-case.ts';
import type { Instant } from '../../lib/clock.ts';
import { ownText } from './read-limits.ts';
import { type ReadRun, runTime } from './read-run.ts';
import type { IdentifyTest } from './test-name-cache.ts';

export interface InternalSources {
  readonly identify: IdentifyTest;
  readonly receivedAt: Instant;
  /** Resolved by the bundle's own CODEOWNERS. */
  readonly ownersOf: (file: string) => readonly string[];
  readonly internOwners: (owners: readonly string[]) => readonly string[];
  readonly findings: FindingCounts;
  /** The bundle has no report with more detail about the same cases. */
  readonly isOnlySource: boolean;
  readonly textBytes: number;
}

const NO_NAME: IdentityFinding = {
  level: 'error',
  message: 'A run has no name and is left out.',
  hint: 'Give every test a name.',
};
const NO_RESULT: IdentityFinding = {
  level: 'error',
  message: 'A run has no result and is left out.',
  hint: 'Use a newer uploader.',
};

/**
 * Converts a run of internal.bin; undefined: it lacks required fields. A run without a name gets its class's name, as
 * in reports.
 */
export function internalRun(run: InternalRun, sources: InternalSources): ReadRun | undefined {
  const { findings, receivedAt } = sources;
  const { file, classname, parent, infoId } = run;
  const name = run.name || classname;
  if (name === '' || run.status === 'UNSPECIFIED') {
    findings.count([name === '' ? NO_NAME : NO_RESULT], null);
    return undefined;
  }
  if (sources.isOnlySource) findings.count(checkCase({ ...run, name, suite: parent }, receivedAt), null);
  const known = sources.identify({ file, classname, parent, name, infoId });
  const hasOwners = run.codeOwners.length > 0;
  return {
    testId: known.testId,
    names: known.names,
    conclusion: run.status,
    startedAt: runTime(run.startedAt, receivedAt),
    durationMs: run.durationMs,
    attempt: run.attempt,
    rerunOf: null,
    path: null,
    repeats: null,
    failure: run.status === 'FAILURE' ? failureText(run.output, sources.textBytes) : null,
    codeOwners: hasOwners ? sources.internOwners(run.codeOwners) : sources.ownersOf(known.names.file),
  };
}

/** A failed run as a report would hold it. */
export function caseOfRun({ name, classname, parent: suite, output: outcome }: InternalRun): MaybeTest {
  return { name: name || classname, classname, suite, status: 'failure', outcome };
}

function failureText(output: RunOutput | null, maxBytes: number): FailureText {
  const clean = (text: string) => ownText(cleanText(text, maxBytes));
  const said = { message: clean(output?.message ?? ''), text: clean(output?.text ?? '') };
  return { type: '', ...said, message: toldMessage(said) };
}
