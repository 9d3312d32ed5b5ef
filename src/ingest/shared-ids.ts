import { groupByPath } from '../flaky/core/paths.ts';
import type { UploadIssue } from '../storage/uploads.ts';
import type { ReadRun } from './read/read-run.ts';

const MAX_LISTED = 5;

/** Reports the tests of an upload that share an id across several suites, as an issue. */
export class SharedIds {
  #count = 0;
  readonly #names: string[] = [];

  note(groups: ReadonlyMap<string, readonly ReadRun[]>): void {
    for (const runs of groups.values()) {
      if (runs.length < 2 || groupByPath(runs).size < 2) continue;
      this.#count += 1;
      const { parent, name } = (runs[0] as ReadRun).names;
      if (this.#names.length < MAX_LISTED) this.#names.push(parent === '' ? name : `${parent} > ${name}`);
    }
  }

  issues(): readonly UploadIssue[] {
    if (this.#count === 0) return [];
    const tests = this.#count === 1 ? 'A test id stands' : `${this.#count} test ids stand`;
    const names = this.#names.join(', ').slice(0, 300).toWellFormed();
    const message = `${tests} for tests of one name in several suites: ${names}.`;
    const hint = 'Give each test of a file a name of its own. A quarantine covers only the suites that it was made of.';
    return [{ level: 'warning', file: null, line: null, message, hint }];
  }
}
