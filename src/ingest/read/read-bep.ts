import { BazelTargets, bazelResult } from '../../bundle/bazel-targets.ts';
import { type BepResult, decodeBep } from '../../bundle/bep.ts';
import { Unreadable } from '../../bundle/unreadable.ts';
import type { Issue } from '../../flaky/identity/issue.ts';
import type { Instant } from '../../lib/clock.ts';
import { type FileEnd, RUNS_AT_ONCE, unreadableIssue } from './read-junit.ts';
import { ownText } from './read-limits.ts';
import { type ReadRun, runTime } from './read-run.ts';
import type { IdentifyTest } from './test-name-cache.ts';
import type { UploadIssues } from './upload-issues.ts';

export interface BepSources {
  readonly file: string;
  readonly issues: UploadIssues;
  readonly identify: IdentifyTest;
  readonly receivedAt: Instant;
}

/**
 * Reads build events without the reports they name: a target counts as a test, and every attempt of every shard as a
 * run of it. Cached results did not run and are left out.
 */
// SPEC U70
export async function* readBep(
  source: AsyncIterable<Uint8Array>,
  { file, issues, identify, receivedAt }: BepSources,
): AsyncGenerator<readonly ReadRun[], FileEnd> {
  const targets = new BazelTargets();
  const failed = new Set<string>();
  let runs: ReadRun[] = [];
  let problem: string | null = null;
  const onIssue = (issue: Issue) => {
    problem ??= `${file}: ${issue.message}`;
    issues.add(issue);
  };
  let count = 0;
  try {
    for await (const event of decodeBep(source, { file, onIssue })) {
      targets.add(event);
      const run = event.kind === 'result' ? runOf(event, { identify, receivedAt }) : undefined;
      if (run === undefined) continue;
      count += 1;
      if (run.conclusion === 'FAILURE') failed.add(event.label);
      runs.push(run);
      if (runs.length < RUNS_AT_ONCE) continue;
      yield runs;
      runs = [];
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    problem = `${file} could not be read to its end: ${error.detail}`;
    issues.add(unreadableIssue(error, file));
  }
  if (runs.length > 0) yield runs;
  if (count === 0 && problem === null) {
    problem = `${file} tells of no test.`;
    const hint = 'Upload JUnit XML, or the file that Bazel writes with --build_event_json_file.';
    issues.add({ level: 'error', file, line: null, message: 'The file holds no results of tests.', hint });
  }
  return { problem: problem ?? silentFailure(targets, failed) };
}

/** Finds a target that failed without a failed run: its failing test is unknown. */
// SPEC U26
export function silentFailure(targets: BazelTargets, failed: ReadonlySet<string>): string | null {
  const silent = targets.list().find(({ label, resolvedStatus }) => resolvedStatus === 'Failed' && !failed.has(label));
  return silent === undefined ? null : `${silent.label.slice(0, 200)} failed, and no test that failed in it is told.`;
}

function runOf(event: BepResult, of: Pick<BepSources, 'identify' | 'receivedAt'>): ReadRun | undefined {
  const result = bazelResult(event.status);
  if (event.isCached || result === 'UNSPECIFIED' || event.label === '') return undefined;
  const { testId, names } = of.identify({
    file: '',
    classname: '',
    parent: event.label.slice(0, Math.max(0, event.label.lastIndexOf(':'))),
    name: event.label,
    infoId: '',
  });
  const conclusion = result === 'FAILURE' ? 'FAILURE' : 'SUCCESS';
  const type = ownText(event.status.slice(0, 100));
  return {
    testId,
    names,
    conclusion,
    startedAt: runTime(event.startedAt, of.receivedAt),
    durationMs: event.durationMs,
    attempt: event.attempt,
    rerunOf: null,
    path: '',
    repeats: null,
    failure: conclusion === 'FAILURE' ? { type, message: `The target ended as ${type}.`, text: '' } : null,
    codeOwners: [],
  };
}
