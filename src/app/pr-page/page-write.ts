import { hash } from 'node:crypto';
import type { Entry } from '../../engine/model/queue.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import type { PageWriter } from '../../forge/hosting.ts';
import type { App } from '../core/app.ts';
import type { LoadedQueue } from '../core/commit-draft.ts';
import type { PageFacts } from './collect-page-facts.ts';
import type { Note, NoteKey } from './note.ts';
import type { PairedWriter } from './paired-writer.ts';

export interface PageWrite {
  readonly app: App;
  readonly hosting: PageWriter;
  /** Sends the first comment and the first check run as one request. */
  readonly writer: PairedWriter;
  readonly repository: ForgeRepository;
  readonly key: NoteKey;
  /** The id of the effect. */
  readonly effect: string;
  /** The id of this attempt: another attempt of the same effect may be under way on a server that hung. */
  readonly attempt: string;
}

/** A part of the page that differs from what was written last. */
export interface PagePart {
  /** The fields of the note that only this part changes. */
  readonly fields: readonly (keyof Note)[];
  /** The note while it is unknown whether the part was written. */
  begin(note: Note): Note;
  /** Returns the change that records what was written. */
  write(): Promise<(note: Note) => Note>;
  /** After this write the part differs still. */
  readonly isPreliminary?: boolean;
}

export interface PageOfQueue {
  readonly loaded: LoadedQueue;
  readonly entry: Entry;
  readonly facts: PageFacts;
}

export function digestOf(...parts: readonly (string | undefined)[]): string {
  return hash('sha256', JSON.stringify(parts)).slice(0, 32);
}
