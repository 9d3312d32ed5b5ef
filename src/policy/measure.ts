import { percentile } from '../lib/percentile.ts';
import type { Outcome } from './referee.ts';
import { HOUR_MS, MINUTE_MS, type Workload } from './workload.ts';

export interface Measures {
  readonly pullRequests: number;
  readonly merged: number;
  readonly removed: number;
  /** Still in the queue at the end of the simulation. */
  readonly undecided: number;
  readonly mergedPerHour: number;
  /** From submission, for landed changes. Null if none landed. */
  readonly timeToLandMinutes: { readonly p50: number | null; readonly p95: number | null; readonly p99: number | null };
  readonly runs: number;
  readonly runsPerDecided: number;
  readonly probes: number;
  readonly ciHours: number;
  readonly restarts: number;
  readonly wronglyRemoved: number;
  readonly brokenLanded: number;
  readonly makespanHours: number;
  readonly holds: number;
}

export interface Played {
  readonly workload: Workload;
  readonly outcome: Outcome;
}

/** Several workloads count as queues that run one after the other. */
export function measure(played: readonly Played[]): Measures {
  const sum = (of: (each: Played) => number) => played.reduce((total, each) => total + of(each), 0);
  const pullRequests = sum(({ workload }) => workload.changes.length);
  const merged = sum(({ outcome }) => outcome.landedAt.size);
  const removed = sum(({ outcome }) => outcome.removedAt.size);
  const runs = sum(({ outcome }) => outcome.runs);
  const makespanMs = sum(makespanOf);
  const times = played.flatMap(timesToLand).sort((a, b) => a - b);
  return {
    pullRequests,
    merged,
    removed,
    undecided: pullRequests - merged - removed,
    mergedPerHour: ratio(merged, makespanMs / HOUR_MS),
    timeToLandMinutes: {
      p50: roundedPercentile(times, 50),
      p95: roundedPercentile(times, 95),
      p99: roundedPercentile(times, 99),
    },
    runs,
    runsPerDecided: ratio(runs, merged + removed),
    probes: sum(({ outcome }) => outcome.probes),
    ciHours: round(sum(({ outcome }) => outcome.ciMs) / HOUR_MS),
    restarts: sum(({ outcome }) => outcome.restarts),
    wronglyRemoved: sum(wronglyRemoved),
    brokenLanded: sum(brokenLanded),
    makespanHours: round(makespanMs / HOUR_MS),
    holds: sum(({ outcome }) => outcome.holds),
  };
}

function timesToLand({ workload, outcome }: Played): number[] {
  return workload.changes.flatMap(({ number, submittedAt }) => {
    const landedAt = outcome.landedAt.get(number);
    return landedAt === undefined ? [] : [(landedAt - submittedAt) / MINUTE_MS];
  });
}

function roundedPercentile(sorted: readonly number[], percent: number): number | null {
  const value = percentile(sorted, percent);
  return value === undefined ? null : round(value);
}

/** From the first submission to the last decision. */
function makespanOf({ workload, outcome }: Played): number {
  const startsAt = workload.changes[0]?.submittedAt ?? 0;
  let endsAt = startsAt;
  for (const decided of [outcome.landedAt, outcome.removedAt]) {
    for (const at of decided.values()) endsAt = Math.max(endsAt, at);
  }
  return endsAt - startsAt;
}

function partnersOf({ changes }: Workload): Map<number, number[]> {
  const partners = new Map<number, number[]>();
  for (const { number, breaksWith, conflictsWith } of changes) {
    for (const other of [breaksWith, conflictsWith]) {
      if (other === undefined) continue;
      partners.set(number, [...(partners.get(number) ?? []), other]);
      partners.set(other, [...(partners.get(other) ?? []), number]);
    }
  }
  return partners;
}

/** Removed although it is sound by itself, nothing that it breaks or conflicts with has landed, and what it needs has. */
function wronglyRemoved({ workload, outcome }: Played): number {
  const partners = partnersOf(workload);
  const hasLanded = (number: number) => outcome.landedAt.has(number);
  return workload.changes.filter(
    ({ number, isBroken, isUnmergeable, needs }) =>
      outcome.removedAt.has(number) &&
      !isBroken &&
      !isUnmergeable &&
      (needs === undefined || hasLanded(needs)) &&
      !(partners.get(number) ?? []).some(hasLanded),
  ).length;
}

/** Landed although it is broken by itself, together with an earlier landing, or without the change that it needs. */
function brokenLanded({ workload, outcome }: Played): number {
  const partners = partnersOf(workload);
  const before = new Set<number>();
  let count = 0;
  for (const [number, at] of outcome.landedAt) {
    const { isBroken = false, needs } = workload.changes[number - 1] ?? {};
    const lacksNeeded = needs !== undefined && !((outcome.landedAt.get(needs) ?? Number.POSITIVE_INFINITY) <= at);
    if (isBroken || lacksNeeded || (partners.get(number) ?? []).some((other) => before.has(other))) count += 1;
    before.add(number);
  }
  return count;
}

/** The least possible number of runs per decision, if this share fails at random: a run tells at most one bit. */
export function entropyOf(share: number): number {
  if (share <= 0 || share >= 1) return 0;
  return -share * Math.log2(share) - (1 - share) * Math.log2(1 - share);
}

/** Four digits, because runs per decision are compared with limits below 0.1. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
