import { useComputed } from '@preact/signals';
import { shownNow } from '../../core/clock.ts';

interface Props {
  readonly since: string | undefined;
  /** When it usually is over. */
  readonly until: string | undefined;
}

/** How far a run is, by how long it usually takes. */
export function Progress({ since, until }: Props) {
  const done = useComputed(() => {
    if (since === undefined || until === undefined) return 0;
    const from = Date.parse(since);
    return Math.min(0.98, Math.max(0.02, (shownNow.value - from) / Math.max(1, Date.parse(until) - from)));
  });
  if (since === undefined || until === undefined) return null;
  return (
    <progress class="progress" max={1} value={done} aria-label="How far it is, by how long it usually takes">
      {Math.round(done.value * 100)} %
    </progress>
  );
}
