import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Instant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CheckReport, HintSubject, RepositoryName, WebhookHint } from '../hosting.ts';

/** One repository, or all of an owner with the name `*`. */
export type WebhookRepository = RepositoryName;

interface SeenHead {
  readonly headSha: Sha | undefined;
  readonly changedAt: Instant | undefined;
}

export function aboutPullRequest(place: WebhookRepository, number: number, seen: SeenHead): WebhookHint {
  const { headSha, changedAt } = seen;
  // The key contains the head, so a late webhook about an older head does not replace a newer hint.
  return hint(place, `pull_request ${number} ${headSha ?? ''}`, {
    kind: 'pull_request',
    number: number as PrNumber,
    headSha,
    ...present({ changedAt }),
  });
}

/** Tags yield no hint. */
export function ofRef(place: WebhookRepository | undefined, ref: string | undefined): readonly WebhookHint[] {
  const branch = /^refs\/heads\/(.+)$/s.exec(ref ?? '')?.[1];
  return place === undefined || branch === undefined
    ? []
    : [hint(place, `branch ${branch}`, { kind: 'branch', branch })];
}

interface FinishedCheck {
  readonly sha: Sha | undefined;
  readonly check: string | undefined;
  readonly startedAt: Instant | undefined;
  readonly report?: CheckReport | undefined;
}

export function ofCheck(place: WebhookRepository | undefined, finished: FinishedCheck): readonly WebhookHint[] {
  const { sha, check, startedAt, report } = finished;
  if (place === undefined || sha === undefined) return [];
  const attempt = check === undefined ? {} : present({ check, startedAt, report });
  const about = { kind: 'checks', sha, ...attempt } as const;
  return [hint(place, `checks ${sha}${check === undefined ? '' : ` ${check}`}`, about)];
}

export function accessTo(place: WebhookRepository): readonly WebhookHint[] {
  return [hint(place, 'access', { kind: 'access' })];
}

export function hint(place: WebhookRepository, about: string, facts: HintSubject): WebhookHint {
  return { ...facts, ...place, key: `${place.owner}/${place.name} ${about}` };
}
