import { cut } from '../core/text-width.ts';

const EVERY_MS = 200;
const BAR = 20;

/** A bar on a terminal, redrawn while the simulation runs. Nothing elsewhere. */
// SPEC W45
export class ProgressBar {
  readonly #stream: NodeJS.WriteStream;
  #total = 0;
  #done = 0;
  #label = '';
  readonly #now: () => number;
  #shownAt: number;

  constructor(stream: NodeJS.WriteStream, now = () => performance.now()) {
    this.#stream = stream;
    this.#now = now;
    this.#shownAt = now();
  }

  /** A column begins after `done` of `total` pull requests. Not every column tells of each of them. */
  begin(label: string, done: number, total: number): void {
    this.#label = label;
    this.#done = done;
    this.#total = total;
  }

  readonly tick = (): void => {
    this.#done += 1;
    if (!this.#stream.isTTY || this.#now() - this.#shownAt < EVERY_MS) return;
    this.#shownAt = this.#now();
    const share = Math.min(1, this.#done / this.#total);
    const filled = Math.round(share * BAR);
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${Math.floor(share * 100)} %  ${this.#label}`;
    this.#stream.write(`\r\u001b[K${cut(bar, (this.#stream.columns || 80) - 1)}`);
  };

  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K');
  }
}
