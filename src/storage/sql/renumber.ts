import type { Instant } from '../../lib/clock.ts';

/** So many events a second would be needed for places to reach those of the next restore. */
const PLACES_PER_SECOND = 100_000;

/** Readers that saw events which are gone now pass over none of those that come. */
// SPEC X55
export function renumberFeed(now: Instant): string {
  const place = Math.floor(now / 1_000) * PLACES_PER_SECOND;
  return `insert into feed_heads (organization_id, last_seq, digest) select id, ${place}, null from organizations where true
    on conflict (organization_id) do update set last_seq = excluded.last_seq
    where feed_heads.last_seq < excluded.last_seq`;
}

/** Candidates are fewer than seconds, and their numbers have 32 bits. */
const FIRST_SECOND = Date.UTC(2020, 0, 1) / 1_000;

/** The count of candidates in the body of a queue, in the SQL of a store. */
interface CandidateCount {
  readonly read: string;
  set(count: number): string;
}

/** CI may still report on candidates that are gone now, and names them by ids that follow from their numbers. */
// SPEC C11
export function renumberCandidates(now: Instant, { read, set }: CandidateCount): string {
  const count = Math.floor(now / 1_000) - FIRST_SECOND;
  return `update queues set body = ${set(count)} where ${read} < ${count}`;
}
