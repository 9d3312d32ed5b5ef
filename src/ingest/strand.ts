import { Interrupted } from './interrupts.ts';

/** Work that pauses at its steps and resumes there: other work runs in between. */
export class Strand {
  readonly #begin: () => Promise<void>;
  #ended: Promise<void> | undefined;
  #pause = Promise.withResolvers<void>();
  #goOn = Promise.withResolvers<void>();

  constructor(begin: () => Promise<void>) {
    this.#begin = begin;
  }

  /** Starts or resumes the work. Returns false if it paused before its end. Throws the work's error. */
  async run(): Promise<boolean> {
    this.#pause = Promise.withResolvers();
    if (this.#ended === undefined) this.#ended = this.#begin();
    else this.#goOn.resolve();
    return Promise.race([this.#ended.then(() => true), this.#pause.promise.then(() => false)]);
  }

  /** Called by the work itself. */
  async pause(): Promise<void> {
    this.#goOn = Promise.withResolvers();
    this.#pause.resolve();
    await this.#goOn.promise;
  }

  /** Ends paused work as if it had been interrupted at its pause. */
  async abandon(): Promise<void> {
    this.#goOn.reject(new Interrupted());
    await this.#ended?.catch(() => undefined);
  }
}
