import type { Issue } from '../flaky/identity/issue.ts';
import type { ReadRun } from './read/read-run.ts';
import type { RunsByTest } from './upload-parts.ts';

export interface TestLimits {
  /** An upload with more new tests gets a smaller share of the time. */
  readonly maxNewTests: number;
  /** A repository with more tests takes in only failing new ones. */
  readonly maxRepositoryTests: number;
}

/**
 * The limits that an upload has reached in any of its parts. They are kept as issues, so that they survive a crash with
 * the upload.
 */
export class ReachedLimits {
  readonly #limits: TestLimits;
  readonly #issues = new Map<string, Issue>();
  #newTests = 0;

  /** `issues` are those stored with the earlier parts. */
  constructor(limits: TestLimits, issues: readonly Issue[]) {
    this.#limits = limits;
    for (const issue of [manyTests(limits), fullRepository(limits)])
      if (issues.some(({ message }) => message === issue.message)) this.#issues.set(issue.message, issue);
  }

  get issues(): readonly Issue[] {
    return [...this.#issues.values()];
  }

  /** Tests were left out, so the results are incomplete. */
  get problem(): string | null {
    return this.#issues.get(fullRepository(this.#limits).message)?.message ?? null;
  }

  noteNewTests(count: number): void {
    this.#newTests += count;
    if (this.#newTests > this.#limits.maxNewTests) this.#note(manyTests(this.#limits));
  }

  /** Leaves out new tests beyond the limit, but never a failing one. */
  leaveOut(groups: RunsByTest, of: { readonly known: (id: string) => boolean; readonly count: number }): RunsByTest {
    let room = this.#limits.maxRepositoryTests - of.count;
    const taken = new Map<string, readonly ReadRun[]>();
    for (const [id, runs] of groups) {
      const isKnown = of.known(id);
      if (!isKnown && room <= 0 && !runs.some(({ conclusion }) => conclusion === 'FAILURE')) continue;
      if (!isKnown) room -= 1;
      taken.set(id, runs);
    }
    if (taken.size === groups.size) return groups;
    this.#note(fullRepository(this.#limits));
    return taken;
  }

  #note(issue: Issue): void {
    this.#issues.set(issue.message, issue);
  }
}

function manyTests({ maxNewTests }: TestLimits): Issue {
  return {
    level: 'warning',
    file: null,
    line: null,
    message: `It brings more than ${maxNewTests} tests that were never seen before: the rest was processed behind the uploads of others.`,
    hint: 'Do names of tests hold something that changes with every run, such as a time or a random number? SLUICE_UPLOAD_NEW_TESTS is the limit.',
  };
}

function fullRepository({ maxRepositoryTests }: TestLimits): Issue {
  return {
    level: 'warning',
    file: null,
    line: null,
    message: `The repository has ${maxRepositoryTests} tests, which is the most it may have: of tests that were never seen before only those that failed were taken in.`,
    hint: 'Do names of tests hold something that changes with every run, such as a time or a random number? SLUICE_REPOSITORY_TESTS is the limit.',
  };
}
