import type { Forge } from '../forge/forge.ts';
import type { Timing } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { Runner } from '../runner/runner.ts';
import type { Store } from '../storage/store.ts';
import type { Authenticator } from './authenticate.ts';
import type { Directory } from './directory.ts';
import type { NoticeBell } from './notice-bell.ts';
import type { Outages } from './outages.ts';
import type { QueueRunner } from './queue-runner.ts';
import type { UnusedUploads } from './unused-uploads.ts';

/** Everything a use case may need. Made once, in main.ts. */
export interface App {
  readonly store: Store;
  readonly runner: QueueRunner;
  readonly directory: Directory;
  readonly auth: Authenticator;
  readonly forges: Forges;
  /** Runs the checks of repositories that have commands for them. */
  readonly jobs: Runner;
  readonly clock: Timing;
  readonly ingest: Ingest;
  readonly outages: Outages;
  readonly notices: NoticeBell;
  readonly log: Log;
  /** The server's own address, for links in what is written elsewhere. Undefined: no links. */
  readonly publicUrl?: string | undefined;
  /** Watches whether given-out upload addresses are used. */
  readonly unusedUploads?: UnusedUploads;
  /** Where backups go that are named without a folder. */
  readonly backupFolder: string;
}

/** Whoever processes uploads, on a thread of its own. */
export interface Ingest {
  /** Something waits for it: an upload, or settings that changed. */
  wake(): void;
  /** Nothing is processed while `action` replaces what is stored; what was kept in memory is forgotten. */
  whileStill<T>(action: () => Promise<T>): Promise<T>;
  /** Calls back when results tied to a candidate have been stored by this server; answers how to stop listening. */
  onCheckResults(
    listener: (result: { readonly repositoryId: string; readonly candidateId: string; readonly check: string }) => void,
  ): () => void;
}

/** `local` is plain git; every other host is a forge that somebody connected. */
export type Forges = ReadonlyMap<string, Forge>;
