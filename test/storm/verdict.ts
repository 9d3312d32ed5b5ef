/** The broken promises. */
export class Violations {
  readonly #found: string[] = [];

  get found(): readonly string[] {
    return this.#found;
  }

  add(text: string): void {
    this.#found.push(text);
  }

  expect(isSo: boolean, text: string): void {
    if (!isSo) this.add(text);
  }
}
