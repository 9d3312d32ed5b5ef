import { hash } from 'node:crypto';
import type { Entry } from '../../engine/queue.ts';
import type { ForgeRepository } from '../../forge/forge.ts';
import type { Hosting } from '../../forge/hosting.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import type { NoteKey } from './note.ts';
import type { PageFacts } from './page-facts.ts';
import type { PairedWriter } from './paired-writer.ts';

/** With whom, and about what. */
export interface PageWrite {
  readonly app: App;
  readonly hosting: Hosting;
  /** Writes the comment and the check together. */
  readonly writer: PairedWriter;
  readonly repository: ForgeRepository;
  readonly key: NoteKey;
  /** Names whoever talks: after a crash the same one goes on. */
  readonly id: string;
  /** Names this one try: another of the same may still be under way, here or on another server. */
  readonly turn: string;
}

/** A pull request as one queue sees it. */
export interface PageOfQueue {
  readonly loaded: LoadedQueue;
  readonly entry: Entry;
  readonly facts: PageFacts;
}

export function digestOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}
