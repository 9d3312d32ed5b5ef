import type { Candidate } from '../../engine/model/candidate.ts';
import type { Queue } from '../../engine/model/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Pace, PastRun } from '../../policy/pace.ts';

/** Only recent runs tell how long the next one takes. */
export const MOST_RUNS = 200;

/** A longer build waited for something else. */
const LONGEST_BUILD_MS = 5 * 60_000;

/** The pace of a queue, from its latest candidates that ended, oldest first. */
// SPEC Z3
export function paceOf(queue: Queue, ended: readonly Candidate[], now: Instant): Pace {
  return {
    runs: ended.flatMap(runOf),
    buildMs: ended.flatMap(buildMsOf),
    landMs: landMsOf(ended),
    arrivalMs: arrivalMsOf(queue, ended, now),
  };
}

/** Passes taken over from others, and timeouts, say nothing about durations. */
function runOf(candidate: Candidate): PastRun[] {
  const { members, testingSince, pass, failure, checks, purpose } = candidate;
  if (testingSince === undefined || purpose.kind === 'head') return [];
  const isFailure = failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED';
  const endedAt = pass?.by === 'own_run' ? pass.at : isFailure ? failure.at : cutOffAt(candidate);
  if (endedAt === undefined) return [];
  const took = (at: Instant) => Math.max(0, at - testingSince);
  return [
    {
      tested: members.map(({ submission }) => submission),
      passed: pass === undefined && failure === undefined ? undefined : pass !== undefined,
      tookMs: took(endedAt),
      checks: checks.map(({ name, reportedAt }) => ({ name, tookMs: took(reportedAt) })),
      endedAt,
    },
  ];
}

/** It was ended while CI was testing it. */
function cutOffAt({ pass, failure, sameTreeAs, endedAt }: Candidate): Instant | undefined {
  return pass === undefined && failure === undefined && sameTreeAs === undefined ? endedAt : undefined;
}

function buildMsOf({ plannedAt, testingSince }: Candidate): number[] {
  const tookMs = testingSince === undefined ? Number.POSITIVE_INFINITY : testingSince - plannedAt;
  return tookMs >= 0 && tookMs < LONGEST_BUILD_MS ? [tookMs] : [];
}

/** Most candidates wait for others between pass and landing. The shortest times did not. */
function landMsOf(ended: readonly Candidate[]): number[] {
  const waits = ended.flatMap(({ pass, endedAt, ending }) =>
    pass === undefined || endedAt === undefined || ending?.reason !== 'MERGE_GRAPH_MERGE' ? [] : endedAt - pass.at,
  );
  return waits
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b)
    .slice(0, Math.max(1, Math.floor(waits.length / 4)));
}

/** Submissions are counted, so the oldest of these candidates tells how many have come since. */
function arrivalMsOf({ submissions }: Queue, ended: readonly Candidate[], now: Instant): number | undefined {
  const oldest = ended.find(({ members }) => members.length > 0);
  const submission = oldest?.members[0]?.submission;
  if (oldest === undefined || submission === undefined) return undefined;
  const since = submissions - submission;
  return since > 0 && now > oldest.plannedAt ? (now - oldest.plannedAt) / since : undefined;
}
