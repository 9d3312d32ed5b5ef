import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import { Prng } from '../../../src/lib/prng.ts';
import { type Conditions, drawConditions, FIRST_API_SEED } from '../conditions.ts';

/** The conditions of a run on the fake GitHub, drawn from its seed before anything happens. */
export interface GithubConditions extends Conditions {
  /** The branch protection requires checks, also of pull requests. */
  readonly isProtected: boolean;
  /** These checks are commit statuses, the others check runs. */
  readonly statuses: readonly string[];
  readonly mergeability: 'lazy' | 'at_once';
  readonly strength: number;
  readonly crashes: readonly Planned[];
  /** When webhook deliveries stop for a while. */
  readonly silence: { readonly at: number; readonly forMs: number } | undefined;
  /** When CI has an outage: checks that end then fail or never report. */
  readonly outage: CiOutage | undefined;
}

export interface CiOutage {
  readonly at: number;
  readonly forMs: number;
  readonly kind: 'failing' | 'silent';
}

/** Seeds before this one are older than outages and keep their plans. */
const FIRST_TROUBLED_SEED = 1_001;

/** When an act happens, and its seed. */
export interface Planned {
  readonly at: number;
  readonly salt: string;
}

/** Real git is slow, so there are fewer pull requests, and CI runs may take longer. */
export function drawGithubConditions(seed: number): GithubConditions {
  const drawn = drawConditions(new Prng(`github conditions ${seed}`), FIRST_API_SEED + seed);
  const random = new Prng(`github ${seed}`);
  const busyMs = random.between(120_000, 200_000);
  return {
    ...drawn,
    busyMs,
    pullRequests: random.between(6, 10),
    acts: random.between(5, 14),
    hasBadClocks: false,
    settings: drawSettings(drawn.settings, random),
    // Otherwise no source would name required checks.
    isProtected: random.chance(drawn.settings.requiredStatuses === null ? 0.9 : 0.3),
    statuses: random.pick([[], [], ['lint'], ['unit', 'lint']]) ?? [],
    mergeability: random.pick(['lazy', 'at_once'] as const),
    strength: random.pick([0.5, 1, 1, 2] as const),
    crashes: planOf(random, random.between(0, 3), busyMs),
    silence: random.chance(0.4)
      ? { at: random.between(0, busyMs / 2), forMs: random.between(20_000, busyMs / 2) }
      : undefined,
    outage: seed < FIRST_TROUBLED_SEED ? undefined : drawOutage(random, busyMs),
  };
}

function drawOutage(random: Prng, busyMs: number): CiOutage | undefined {
  if (random.chance(0.3)) return undefined;
  const kind = random.pick(['failing', 'failing', 'silent'] as const);
  return { at: random.between(10_000, busyMs / 2), forMs: random.between(10_000, 60_000), kind };
}

function drawSettings(drawn: QueueSettings, random: Prng): QueueSettings {
  return {
    ...drawn,
    // This world has no uploads of test results.
    honorQuarantine: 'OFF',
    testingTimeoutMinutes: random.pick([2, 3] as const),
    createPrsForTestingBranches: random.chance(0.3),
    stateLabelsEnabled: random.chance(0.3),
  };
}

export function planOf(random: Prng, count: number, withinMs: number): readonly Planned[] {
  return Array.from({ length: count }, () => ({
    at: random.between(0, Math.round(withinMs)),
    salt: `${random.next()}`,
  })).sort((a, b) => a.at - b.at);
}
