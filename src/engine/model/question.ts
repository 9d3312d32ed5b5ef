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
