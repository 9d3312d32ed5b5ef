/** A test that failed in a run, and is not excused. */
export interface FailedTest {
  readonly id: string;
  readonly name: string;
  /** The last landed pass of the check ran whole, and did not know the test. */
  readonly isNew?: true;
}

/** The tests that failed in a check. Empty: no reports came, or something else than a test failed. */
export type Signature = readonly FailedTest[];

/** The part of a candidate that tells how it failed. */
interface FailedRun {
  readonly checks: readonly { readonly name: string; readonly signature?: Signature }[];
  readonly failure: { readonly reason: string; readonly checks: readonly string[] } | undefined;
}

/** A queue stores no more of one failure. */
export const MAX_SIGNATURE = 50;

/** How a run failed: the ids of its failed tests, and a name for each failed check whose tests are not known. */
// SPEC V68
export function signsOfRun({ checks, failure }: FailedRun): readonly string[] {
  if (failure === undefined) return [];
  const other = (name: string) => [`${failure.reason} ${name}`];
  if (failure.checks.length === 0) return other('');
  return failure.checks.flatMap((name) => {
    const signature = checks.find((check) => check.name === name)?.signature ?? [];
    return signature.length === 0 ? other(name) : signature.map(({ id }) => id);
  });
}

/** The tests that failed in a run, as far as they are known. */
export function failedTestsOf({ checks, failure }: FailedRun): readonly FailedTest[] {
  const failed = checks.filter(({ name }) => failure?.checks.includes(name) === true);
  return failed.flatMap(({ signature = [] }) => signature);
}
