import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { StormClient } from './client.ts';
import { lookUntil, pause } from './pause.ts';
import type { ChangeRef, Line } from './plan.ts';

const EVERY_MS = 120;
/** The page size of the API. */
const PAGE = 50;

/** The last known state of every pull request. */
export interface Board {
  find(number: number): EntryView | undefined;
  /** Waits for the condition. Undefined if the storm is stopped. */
  until(number: number, isSo: (entry: EntryView) => boolean): Promise<EntryView | undefined>;
  stop(): Promise<void>;
}

/** The pull requests of some queues. */
export interface Changes {
  readonly lines: readonly Line[];
  readonly changes: readonly ChangeRef[];
}

export function createBoard(client: StormClient, { lines, changes }: Changes): Board {
  const entries = new Map<number, EntryView>();
  let isStopped = false;
  const look = async (line: Line, some: readonly ChangeRef[]) => {
    for (const entry of await client.getAll(line, some)) entries.set(entry.prNumber, entry);
  };
  const lookAtAll = async () => {
    for (const line of lines) {
      const ofLine = changes.filter((change) => change.line === line);
      for (let first = 0; first < ofLine.length; first += PAGE) await look(line, ofLine.slice(first, first + PAGE));
    }
  };
  const looking = (async () => {
    while (!isStopped) {
      await lookAtAll();
      await pause(EVERY_MS);
    }
  })();
  // stop() reports the failure. The waiting authors must not wait for ever.
  looking.catch(() => {
    isStopped = true;
  });
  return {
    find: (number) => entries.get(number),
    until: async (number, isSo) => {
      const seen = () => {
        const entry = entries.get(number);
        if (isStopped) return null;
        return entry !== undefined && isSo(entry) ? entry : undefined;
      };
      const found = await lookUntil({ withinMs: Number.POSITIVE_INFINITY, everyMs: EVERY_MS / 2 }, seen);
      return found ?? undefined;
    },
    stop: async () => {
      isStopped = true;
      await looking;
    },
  };
}
