import type { App } from '../app/core/app.ts';
import type { Log } from '../lib/log.ts';

export interface ServerDeps {
  readonly app: App;
  readonly log: Log;
  /** Of Sluice itself, for people who look after several servers. */
  readonly version: string;
  /** The address to put into links; undefined: the one the client used. */
  readonly publicUrl: string | undefined;
  /** Proxies whose word about the scheme of a request counts. */
  readonly trustedProxies: readonly string[];
  /** Requests a second for each token; 0: no limit. */
  readonly rateLimit: number;
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
}
