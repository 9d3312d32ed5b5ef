import type { PublicRead } from '../../app/access/public-read.ts';
import type { App } from '../../app/core/app.ts';
import type { StoreHealth } from '../../app/core/store-health.ts';
import type { Log } from '../../lib/log.ts';

export interface ServerDeps {
  readonly app: App;
  readonly log: Log;
  /** Undefined: requests wait for the store however long it is away. */
  readonly storeHealth?: Pick<StoreHealth, 'answer'> | undefined;
  readonly version: string;
  /** Must have room for a server that is ready. Undefined: the server keeps no files. */
  readonly dataFolder?: string | undefined;
  /** The built dashboard. Undefined: none was built. */
  readonly webFolder?: string | undefined;
  /** The repositories that strangers may read. Undefined: none. */
  readonly publicRead?: PublicRead | undefined;
  /** The address for links. Undefined: the one that the client used. */
  readonly publicUrl: string | undefined;
  /** Proxies whose header for the scheme of a request is believed. */
  readonly trustedProxies: readonly string[];
  /** A token for /metrics alone. Undefined: none. */
  readonly metricsToken?: string | undefined;
  /** Requests a second for each token; 0: no limit. */
  readonly rateLimit: number;
  /** How long a whole request may take to arrive. */
  readonly requestTimeoutMs: number;
}
