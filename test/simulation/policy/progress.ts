const EVERY_MS = 200;

/** Shows progress on a terminal, and nothing elsewhere. */
export class Progress {
  readonly #stream: NodeJS.WriteStream;
  #label = '';
  #total = 0;
  #done = 0;
  #shownAt = performance.now();

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  begin(label: string, total: number): void {
    this.#label = label;
    this.#total = total;
    this.#done = 0;
  }

  readonly tick = (): void => {
    this.#done += 1;
    if (!this.#stream.isTTY || performance.now() - this.#shownAt < EVERY_MS) return;
    this.#shownAt = performance.now();
    this.#stream.write(`\r\x1b[K${this.#label}: ${this.#done} of ${this.#total} pull requests decided`);
  };

  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\x1b[K');
  }
}
