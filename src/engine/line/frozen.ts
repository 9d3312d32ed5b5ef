import type { Instant } from '../../lib/clock.ts';
import { type Frozen, type FrozenTime, frozenAt, nextFreezeChangeAt } from '../model/freeze.ts';
import type { Queue } from '../model/queue.ts';
import { amend, tellAll, type Work } from '../model/work.ts';

/** In a freeze tests go on, and nothing lands but urgent entries, if the freeze lets them. */

/** Notes whether a freeze holds now. It is a pure function of the settings and the instant of the event. */
// SPEC Q13
export function noteFreeze(work: Work): void {
  const frozen = frozenAt(work.queue.settings.freezes, work.at);
  if (isSameFrozen(frozen, work.queue.frozen)) return;
  amend(work, { frozen });
  tellAll(work);
}

function isSameFrozen(a: Frozen | undefined, b: Frozen | undefined): boolean {
  return isSameTime(a, b) && isSameTime(a?.urgent, b?.urgent);
}

function isSameTime(a: FrozenTime | undefined, b: FrozenTime | undefined): boolean {
  return a?.name === b?.name && a?.since === b?.since && a?.until === b?.until;
}

/** The queue wakes when a freeze begins or ends. A change that nobody was awake for is due at once. */
// SPEC Q18
export function freezeWakes({ settings, frozen }: Queue, now: Instant): Instant[] {
  if (!isSameFrozen(frozenAt(settings.freezes, now), frozen)) return [now];
  const next = nextFreezeChangeAt(settings.freezes, now);
  return next === undefined ? [] : [next];
}
