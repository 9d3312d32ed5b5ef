/**
 * Compares the failures in a bundle's reports with those in its list of runs. The uploader has its own report reader: a
 * failure that it does not list has no stored run. The list also has no nested suites: only the report says in which of
 * them a test failed.
 */
import { suitePathOf } from '../../flaky/identity/test-id.ts';
import type { JunitCase } from '../../junit/junit-case.ts';

interface Entry {
  readonly paths: string[];
  listed: number;
  taken: number;
}

type Named = { readonly classname: string | null; readonly name: string };

export class FailureLedger {
  /** Keyed by class and name only: the two sources sometimes write files and suites differently. */
  readonly #entries = new Map<string, Entry>();

  noteReported(test: Named & Pick<JunitCase, 'suites'>): void {
    this.#entryOf(test).paths.push(suitePathOf(test.suites));
  }

  noteListed(test: Named): void {
    this.#entryOf(test).listed += 1;
  }

  /** The number of reported failures that are not listed. */
  get missing(): number {
    let count = 0;
    for (const { paths, listed } of this.#entries.values()) count += Math.max(0, paths.length - listed);
    return count;
  }

  /** The path of the next listed failure of this name; null if reports and list disagree. */
  takePath(test: Named): string | null {
    const entry = this.#entryOf(test);
    if (entry.paths.length !== entry.listed) return null;
    entry.taken += 1;
    return entry.paths[entry.taken - 1] ?? null;
  }

  #entryOf({ classname, name }: Named): Entry {
    const key = Buffer.from(`${classname ?? ''}\n${name || classname}`).toString();
    const known = this.#entries.get(key);
    if (known !== undefined) return known;
    const entry = { paths: [], listed: 0, taken: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}
