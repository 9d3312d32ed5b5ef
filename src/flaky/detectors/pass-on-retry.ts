import { matchesAnyBranch } from '../core/branch-pattern.ts';
import { type Batch, DAY_MS, type Detector, KEPT_RUNS, SAME } from '../core/detector.ts';
import type { Monitor } from '../core/monitor.ts';
import { compareRetries, findRetries, isWithdrawnBy, type RetryEvent, stands } from '../core/retry.ts';
import type { OutcomeRef } from '../core/run.ts';
import { type MonitorData, newMonitorState, type TestState } from '../core/state.ts';

type Data = MonitorData['pass_on_retry'];

export const passOnRetry: Detector<'pass_on_retry'> = {
  fold(data, { upload, runs, earlier }, { branches }) {
    if (runs.length < 2 && earlier.length === 0) return data;
    const inScope = earlier.filter(({ branch }) => matchesAnyBranch(branches, branch));
    return addRetries(withdraw(data, { upload, runs }), findRetries(upload, runs, inScope));
  },

  decide(data, monitor, { at, isActive, passingMultiplicities }) {
    const events = standing(data, passingMultiplicities);
    const [latest] = events;
    if (latest !== undefined && recoversAt(latest, monitor) > at) {
      return isActive
        ? SAME
        : { kind: 'active', reason: reasonOf(latest), evidence: { runs: onePerTree(events), figures: {} } };
    }
    if (!isActive) return SAME;
    return latest === undefined
      ? {
          kind: 'inactive',
          cause: 'withdrawn',
          reason: 'What looked like a retry is several tests of one name, or a run that failed.',
        }
      : { kind: 'inactive', cause: 'recovered', reason: recoveredReason(monitor) };
  },

  nextAt(data, monitor, { isActive, passingMultiplicities }) {
    const [latest] = standing(data, passingMultiplicities);
    return isActive && latest !== undefined ? recoversAt(latest, monitor) : null;
  },
};

function addRetries(data: Data | null, retries: readonly RetryEvent[]): Data | null {
  if (retries.length === 0) return data;
  const certain = retries.filter((event) => event.multiplicity === 0);
  const repeated = retries.filter((event) => event.multiplicity > 0);
  return {
    certain: latestOfEach(runThatPassed, [...(data?.certain ?? []), ...certain].sort(compareRetries)),
    repeated: repeated.reduce(keepLatestOfItsKind, data?.repeated ?? []),
  };
}

/** The state as if the pass-on-retry monitors had found these retries. */
export function withRetries(state: TestState, monitors: readonly Monitor[], retries: readonly RetryEvent[]): TestState {
  if (retries.length === 0) return state;
  const found = monitors
    .filter(({ type }) => type === 'pass_on_retry')
    .map(({ id }) => {
      const own = state.monitors[id] ?? newMonitorState('pass_on_retry');
      return [id, { ...own, data: addRetries(own.data as Data | null, retries) }] as const;
    });
  return { ...state, monitors: { ...state.monitors, ...Object.fromEntries(found) } };
}

/** Evidence that no passing commit explains, newest first. */
export function standing(data: Data, known: readonly number[]): readonly RetryEvent[] {
  const repeated = data.repeated.filter((event) => stands(event, known));
  return repeated.length === 0 ? data.certain : [...data.certain, ...repeated].sort(compareRetries);
}

function withdraw(data: Data | null, batch: Pick<Batch, 'upload' | 'runs'>): Data | null {
  const certain = data?.certain.filter((event) => !isWithdrawnBy(event, batch)) ?? [];
  return data === null || certain.length === data.certain.length ? data : { ...data, certain };
}

/** Several retries of one path on one tree are one detection. */
function onePerTree(events: readonly RetryEvent[]): readonly RetryEvent[] {
  return latestOfEach(({ tree, sha, multiplicity }) => `${tree ?? sha} ${multiplicity}`, events);
}

/** Retries between commits can be withdrawn one by one. */
function runThatPassed({ tree, sha, failed, passed }: RetryEvent): string {
  const code = tree ?? sha;
  return passed === undefined || passed.sha === failed?.sha ? code : `${code} ${passed.sha} ${passed.jobAttempt}`;
}

function latestOfEach(keyOf: (event: RetryEvent) => string, events: readonly RetryEvent[]): readonly RetryEvent[] {
  const firsts = events.filter(
    (event, index) => events.findIndex((other) => keyOf(other) === keyOf(event) && other.path === event.path) === index,
  );
  return firsts.slice(0, KEPT_RUNS);
}

function keepLatestOfItsKind(kept: readonly RetryEvent[], event: RetryEvent): readonly RetryEvent[] {
  const isSameKind = (other: RetryEvent) =>
    other.multiplicity === event.multiplicity && other.isMarked === event.isMarked && other.path === event.path;
  const rivals = [...kept.filter(isSameKind), event].sort(compareRetries);
  return [...kept.filter((other) => !isSameKind(other)), ...rivals.slice(0, 1)].sort(compareRetries);
}

// SPEC F59
function recoversAt(event: RetryEvent, monitor: Monitor<'pass_on_retry'>): number {
  return event.at + monitor.parameters.recoveryDays * DAY_MS;
}

// SPEC F88
function reasonOf({ sha, job, tree, failed, passed }: RetryEvent): string {
  const inJob = job === '' ? '' : ` in ${job}`;
  // The sentence names no order: it is unknown if the reports have no times.
  if (tree === undefined || failed === undefined || passed === undefined || failed.sha === passed.sha)
    return `It failed and passed on commit ${sha.slice(0, 12)}${inJob}.`;
  return `It failed ${placeOf(failed)} and passed ${placeOf(passed)} of the same tree ${tree.slice(0, 12)}${inJob}.`;
}

function placeOf({ sha, candidateId }: OutcomeRef): string {
  return candidateId === null ? `on commit ${sha.slice(0, 12)}` : `in test run ${candidateId.slice(0, 8)}`;
}

function recoveredReason({ parameters: { recoveryDays } }: Monitor<'pass_on_retry'>): string {
  return `For ${recoveryDays} ${recoveryDays === 1 ? 'day' : 'days'} it did not both fail and pass on one commit or tree.`;
}
