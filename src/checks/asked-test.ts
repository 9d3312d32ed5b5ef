/** A test that a probe has to answer, as the reports of the check name it. */
export interface AskedTest {
  readonly id: string;
  /** The required check that it failed in. */
  readonly check: string;
  readonly name: string;
  readonly file: string | null;
  readonly classname: string | null;
  /** The suite. */
  readonly parent: string | null;
  readonly variant: string;
}
