import type { Instant } from '../../lib/clock.ts';
import { percentile } from '../../lib/percentile.ts';
import { present } from '../../lib/present.ts';
import type { Check } from './check.ts';
import type { JudgementFinding } from './judgement.ts';
import type { RequiredChecks } from './required.ts';
import type { Signature } from './signature.ts';

/**
 * A question is how a run failed: of each check that failed, the tests. A probe is a run of a search that runs only these
 * tests. It reports under other names than the required checks, so that no pass of a probe can be taken for one of them.
 */
export type Question = readonly CheckQuestion[];

interface CheckQuestion {
  /** The required check that failed. */
  readonly check: string;
  readonly tests: Signature;
}

const SUFFIX = ' (probe)';

/** The name under which a probe reports a check. */
// SPEC B16
export function probeNameOf(check: string): string {
  return check + SUFFIX;
}

/** The check whose tests a probe answers. Other names stay as they are. */
export function checkOfProbe(name: string): string {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : name;
}

/** The tests of the question in the check that a probe reports under this name. */
export function askedIn(question: Question, name: string): Signature {
  return question.find(({ check }) => probeNameOf(check) === name)?.tests ?? [];
}

/** The checks that a probe has to report. */
// SPEC B16
export function requiredOfProbe(required: RequiredChecks, question: Question): RequiredChecks {
  const { names: stray, apps = {}, source, commands } = required;
  const asked = question.map(({ check }) => check);
  const pins = asked.flatMap((check) =>
    Object.hasOwn(apps, check) ? [[probeNameOf(check), apps[check] as string] as const] : [],
  );
  return {
    names: asked.map(probeNameOf),
    ...(pins.length > 0 && { apps: Object.fromEntries(pins) }),
    source,
    commands,
    stray,
  };
}

/** The memory of a queue about its probes. */
export interface Probing {
  /** How long the latest ones took, in percent of a run. */
  readonly percents: readonly number[];
  /** A required check reported on a probe: the queue asks no more until `probeStatuses` is set again. */
  readonly stray?: { readonly check: string; readonly at: Instant };
}

export const NOTHING_PROBED: Probing = { percents: [] };

const REMEMBERED = 20;
const ENOUGH = 5;
const DEAR = 60;

export function withCost({ percents, ...probing }: Probing, percent: number): Probing {
  return { ...probing, percents: [...percents, percent].slice(-REMEMBERED) };
}

/** Probes cost about as much as runs of all tests. */
// SPEC B23
export function isDear({ percents }: Probing): boolean {
  const sorted = percents.toSorted((a, b) => a - b);
  return percents.length >= ENOUGH && (percentile(sorted, 50) ?? 0) > DEAR;
}

/** Probes answered lately, at a fraction of a run. */
// SPEC K33
export function hasProbes(probing: Probing): boolean {
  return probing.percents.length > 0 && probing.stray === undefined && !isDear(probing);
}

/** Each search that could have asked makes the queue forget one figure, so that it asks again some time. */
export function withoutOldestCost({ percents, ...probing }: Probing): Probing {
  return { ...probing, percents: percents.slice(1) };
}

/** The answer of a check counts once for each attempt. Undefined if it is about another one. */
export function withAnswer(
  checks: readonly Check[],
  {
    answer = 'none',
    signature = [],
    reportsAfterMs,
  }: Pick<JudgementFinding, 'answer' | 'signature' | 'reportsAfterMs'>,
  of: { readonly check: string; readonly attempt: Instant | undefined },
): readonly Check[] | undefined {
  const index = checks.findIndex(({ name }) => name === of.check);
  const known = checks[index];
  if (known === undefined || known.startedAt !== of.attempt || known.answer !== undefined) return undefined;
  const { judgement: _awaited, ...plain } = known;
  const failed = answer === 'failed' ? signature : [];
  return checks.with(index, { ...plain, answer, signature: failed, ...present({ reportsAfterMs }) });
}

/** A few, to show. */
export function namesOf(question: Question): readonly string[] {
  return question.flatMap(({ tests }) => tests.map(({ name }) => name.slice(0, NAME_LENGTH))).slice(0, NAMED);
}

const NAMED = 5;
const NAME_LENGTH = 200;
