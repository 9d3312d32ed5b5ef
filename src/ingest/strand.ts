import { Interrupted } from './interrupts.ts';

/** Work that is left at its steps and taken up again where it was left: other work runs in between. */
export class Strand {
  readonly #begin: () => Promise<void>;
  #ended: Promise<void> | undefined;
  #pause = Promise.withResolvers<void>();
  #goOn = Promise.withResolvers<void>();

  constructor(begin: () => Promise<void>) {
    this.#begin = begin;
  }

  /** Begins or goes on until the work ends, or pauses: then false. Throws what the work throws. */
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

  /** Ends work that pauses, as if it had been interrupted there. */
  async abandon(): Promise<void> {
    this.#goOn.reject(new Interrupted());
    await this.#ended?.catch(() => undefined);
  }
}
