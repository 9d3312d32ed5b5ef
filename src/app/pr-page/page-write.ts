import { hash } from 'node:crypto';
import type { Entry } from '../../engine/queue.ts';
import type { ForgeRepository } from '../../forge/forge.ts';
import type { Hosting } from '../../forge/hosting.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/queue-host.ts';
import type { NoteKey } from './note.ts';
import type { PageFacts } from './page-facts.ts';
import type { PairedWriter } from './paired-writer.ts';

/** The context of one write to a pull request's page. */
export interface PageWrite {
  readonly app: App;
  readonly hosting: Hosting;
  /** Sends the first comment and the first check run as one request. */
  readonly writer: PairedWriter;
  readonly repository: ForgeRepository;
  readonly key: NoteKey;
  /** The writer's id, that of the effect: after a crash the same writer continues. */
  readonly id: string;
  /** The id of this attempt: another attempt of the same writer may be under way, here or on another server. */
  readonly turn: string;
}

/** A pull request in one queue. */
export interface PageOfQueue {
  readonly loaded: LoadedQueue;
  readonly entry: Entry;
  readonly facts: PageFacts;
}

export function digestOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}
