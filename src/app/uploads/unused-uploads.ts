import { PeriodicTask } from '../../lib/periodic.ts';
import type { App, IssuedUploadUrl } from '../core/app.ts';

type Deps = Pick<App, 'store' | 'clock' | 'log'>;

const EVERY_MS = 10 * 60_000;
/** A busy server gives out more in an hour; a sample is enough. */
const MAX_WATCHED = 1_000;
const MAX_WARNED = 1_000;

/** A client that cannot reach an address gives up silently, and its results are lost. */
// SPEC U49
export class UnusedUploads {
  readonly #deps: Deps;
  #watched: IssuedUploadUrl[] = [];
  readonly #warned = new Set<string>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  watch(given: IssuedUploadUrl): void {
    if (this.#watched.length < MAX_WATCHED) this.#watched.push(given);
  }

  createRounds(): PeriodicTask {
    const failure = 'could not check for unused upload addresses';
    const round = () => this.warnOfUnused();
    return new PeriodicTask(this.#deps, { firstMs: EVERY_MS, everyMs: EVERY_MS, failure, round });
  }

  async warnOfUnused(): Promise<void> {
    const now = this.#deps.clock.now();
    const isOver = ({ expiresAt }: IssuedUploadUrl): boolean => expiresAt < now;
    const over = this.#watched.filter(isOver);
    this.#watched = this.#watched.filter((given) => !isOver(given));
    for (const given of over) await this.#judge(given);
  }

  async #judge({ uploadId, organization, address }: IssuedUploadUrl): Promise<void> {
    const upload = await this.#deps.store.uploads.find(uploadId);
    const key = JSON.stringify([organization, address]);
    if (upload !== undefined && upload.status !== 'PENDING') {
      this.#warned.delete(key);
      return;
    }
    if (this.#warned.has(key) || this.#warned.size >= MAX_WARNED) return;
    this.#warned.add(key);
    this.#deps.log.warn(
      { organization, address, uploadId },
      'upload address never used; if clients cannot reach it, set SLUICE_URL or SLUICE_TRUSTED_PROXIES',
    );
  }
}
