import { matchesAnyBranch } from '../branch-pattern.ts';
import { DAY_MS, type Detector, KEPT_RUNS, SAME } from '../detector.ts';
import type { Monitor } from '../monitor.ts';
import { compareRetries, findRetries, type RetryEvent, stands } from '../retry.ts';
import type { MonitorData } from '../state.ts';

type Data = MonitorData['pass_on_retry'];

export const passOnRetry: Detector<'pass_on_retry'> = {
  fold(data, { upload, runs, earlier }, { branches }) {
    const inScope = earlier.filter(({ branch }) => matchesAnyBranch(branches, branch));
    const retries = findRetries(upload, runs, inScope);
    if (retries.length === 0) return data;
    const certain = retries.filter((event) => event.multiplicity === 0);
    const repeated = retries.filter((event) => event.multiplicity > 0);
    return {
      certain: onePerCommit([...(data?.certain ?? []), ...certain].sort(compareRetries)),
      repeated: repeated.reduce(keepLatestOfItsKind, data?.repeated ?? []),
    };
  },

  decide(data, monitor, { at, isActive, passingMultiplicities }) {
    const events = standing(data, passingMultiplicities);
    const [latest] = events;
    if (latest !== undefined && recoversAt(latest, monitor) > at) {
      return isActive ? SAME : { kind: 'active', reason: reasonOf(latest), evidence: { runs: events, figures: {} } };
    }
    if (!isActive) return SAME;
    return latest === undefined
      ? { kind: 'inactive', cause: 'withdrawn', reason: 'What looked like a retry is several tests of one name.' }
      : { kind: 'inactive', cause: 'recovered', reason: recoveredReason(monitor) };
  },

  nextAt(data, monitor, { isActive, passingMultiplicities }) {
    const [latest] = standing(data, passingMultiplicities);
    return isActive && latest !== undefined ? recoversAt(latest, monitor) : null;
  },
};

/** Evidence that no passing commit explains, newest first. */
export function standing(data: Data, known: readonly number[]): readonly RetryEvent[] {
  const repeated = data.repeated.filter((event) => stands(event, known));
  return repeated.length === 0 ? data.certain : [...data.certain, ...repeated].sort(compareRetries);
}

/** Several retries of one path on one commit are one detection. */
function onePerCommit(events: readonly RetryEvent[]): readonly RetryEvent[] {
  const firsts = events.filter(
    (event, index) => events.findIndex((other) => other.sha === event.sha && other.path === event.path) === index,
  );
  return firsts.slice(0, KEPT_RUNS);
}

function keepLatestOfItsKind(kept: readonly RetryEvent[], event: RetryEvent): readonly RetryEvent[] {
  const isSameKind = (other: RetryEvent) =>
    other.multiplicity === event.multiplicity && other.isMarked === event.isMarked && other.path === event.path;
  const rivals = [...kept.filter(isSameKind), event].sort(compareRetries);
  return [...kept.filter((other) => !isSameKind(other)), ...rivals.slice(0, 1)].sort(compareRetries);
}

function recoversAt(event: RetryEvent, monitor: Monitor<'pass_on_retry'>): number {
  return event.at + monitor.parameters.recoveryDays * DAY_MS;
}

function reasonOf({ sha, job }: RetryEvent): string {
  // In which order is not known where reports name no times.
  return `It failed and passed on commit ${sha.slice(0, 12)}${job === '' ? '' : ` in ${job}`}.`;
}

function recoveredReason({ parameters: { recoveryDays } }: Monitor<'pass_on_retry'>): string {
  return `For ${recoveryDays} ${recoveryDays === 1 ? 'day' : 'days'} it did not both fail and pass on one commit.`;
}
