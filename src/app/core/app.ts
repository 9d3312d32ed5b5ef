import type { CheckRunner } from '../../check-runner/runner.ts';
import type { Forge } from '../../forge/forge.ts';
import type { Instant, Timing } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Store } from '../../storage/store.ts';
import type { Caller } from './caller.ts';
import type { Directory } from './directory.ts';
import type { Outages } from './outages.ts';
import type { QueueHost } from './queue-host.ts';
import type { WakeSignal } from './wake-signal.ts';

/** Everything a use case may need. Made once, in main.ts. */
export interface App {
  readonly store: Store;
  readonly queues: QueueHost;
  readonly directory: Directory;
  readonly auth: Auth;
  readonly forges: Forges;
  /** Runs the checks of repositories that have commands for them. */
  readonly checkRunner: CheckRunner;
  readonly clock: Timing;
  readonly ingest: Ingest;
  readonly outages: Outages;
  readonly hints: WakeSignal;
  readonly log: Log;
  /** The server's own address, for links in what is written elsewhere. Undefined: no links. */
  readonly publicUrl?: string | undefined;
  /** Watches whether given-out upload addresses are used. */
  readonly unusedUploads?: { watch(given: IssuedUploadUrl): void };
  /** Where backups go that are named without a folder. */
  readonly backupFolder: string;
}

/** Turns the secret that came with a request into a caller. */
export interface Auth {
  /** Undefined for a secret that is unknown, revoked or expired. Synchronous when the token is remembered. */
  find(secret: string): Caller | undefined | Promise<Caller | undefined>;
  /** After a token was made, revoked or replaced. */
  forget(): void;
  close(): Promise<void>;
}

/** An address that a client was given to upload a bundle to. */
export interface IssuedUploadUrl {
  readonly uploadId: string;
  readonly expiresAt: Instant;
  readonly organization: string;
  /** Of this server, as the client was told. */
  readonly address: string;
}

/** The thread that processes uploads. */
export interface Ingest {
  /** Something waits for it: an upload, or settings that changed. */
  wake(): void;
  /** Nothing is processed while `action` replaces what is stored; what was kept in memory is forgotten. */
  withWritesPaused<T>(action: () => Promise<T>): Promise<T>;
  /** Calls back when results tied to a candidate have been stored by this server; answers how to stop listening. */
  onCheckResults(
    listener: (result: { readonly repositoryId: string; readonly candidateId: string; readonly check: string }) => void,
  ): () => void;
}

/** `local` is plain git; every other host is a forge that somebody connected. */
export type Forges = ReadonlyMap<string, Forge>;
