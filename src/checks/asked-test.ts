import type { NamedTest } from './selects/select-tests.ts';

/** A test that a probe has to answer. */
export interface AskedTest extends NamedTest {
  readonly id: string;
  /** The required check that it failed in. */
  readonly check: string;
  readonly variant: string;
}
