/**
 * Compares the failures of a bundle's reports with those of its list of runs. The uploader reads reports in its own way, and
 * a failure that it does not list is one that no stored run stands for.
 */
export class FailureLedger {
  /** Failures in reports less those listed, by class and name. */
  readonly #balance = new Map<string, number>();

  noteReported(test: { readonly classname: string | null; readonly name: string }): void {
    this.#add(test, 1);
  }

  noteListed(test: { readonly classname: string; readonly name: string }): void {
    this.#add(test, -1);
  }

  /** How many failures of reports are not listed. */
  get missing(): number {
    let count = 0;
    for (const balance of this.#balance.values()) count += Math.max(0, balance);
    return count;
  }

  #add({ classname, name }: { readonly classname: string | null; readonly name: string }, count: number): void {
    const key = Buffer.from(`${classname ?? ''}\n${name || classname}`).toString();
    this.#balance.set(key, (this.#balance.get(key) ?? 0) + count);
  }
}
