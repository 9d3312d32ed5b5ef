/**
 * Holds the failures of a bundle's reports against those of its list of runs. The uploader reads reports in its own way: a
 * failure that it does not list is one that no stored run stands for. And the list does not tell suites inside each other
 * apart: in which of them a test failed is known from its report only.
 */
import { suitePathOf } from '../../flaky/identity/suite-path.ts';
import type { JunitCase } from '../../junit/junit-case.ts';

interface Entry {
  readonly paths: string[];
  listed: number;
  taken: number;
}

type Named = { readonly classname: string | null; readonly name: string };

export class FailureLedger {
  /** By class and name: files and suites are sometimes written in another way. */
  readonly #entries = new Map<string, Entry>();

  noteReported(test: Named & Pick<JunitCase, 'suites'>): void {
    this.#entryOf(test).paths.push(suitePathOf(test.suites));
  }

  noteListed(test: Named): void {
    this.#entryOf(test).listed += 1;
  }

  /** How many failures of reports are not listed. */
  get missing(): number {
    let count = 0;
    for (const { paths, listed } of this.#entries.values()) count += Math.max(0, paths.length - listed);
    return count;
  }

  /** The path of the next listed failure of this name; null where reports and list do not agree about it. */
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
