import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { Board, Changes } from './board.ts';
import type { Kills } from './killer.ts';
import type { Post } from './server.ts';

export interface StormReport {
  readonly violations: readonly string[];
  readonly kills: Kills;
  /** How many pull requests ended in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly landedKinds: Readonly<Record<string, number>>;
  /** From the last start to the end of the last pull request. */
  readonly settledMs: number;
  readonly totalMs: number;
  /** The warnings of the servers, with counts. */
  readonly warnings: Readonly<Record<string, number>>;
}

/** The states of all pull requests in one line. */
export function countStates({ changes }: Pick<Changes, 'changes'>, board: Board): string {
  const entries = changes.map(({ number }) => board.find(number)?.state ?? 'not there');
  return Object.entries(count(entries))
    .map(([state, number]) => `${number} ${state}`)
    .join(', ');
}

export function countEnds(entries: ReadonlyMap<number, EntryView>) {
  const all = [...entries.values()];
  return {
    states: count(all.map(({ state, timeline }) => `${state} ${timeline?.[0]?.reason}`)),
    landedKinds: count(all.flatMap(({ landed }) => landed?.kind ?? [])),
  };
}

export function countWarnings(posts: readonly Post[]): Readonly<Record<string, number>> {
  const lines = posts.flatMap((post) => post.log().split('\n')).filter((line) => line !== '');
  return count(lines.map(describeLine));
}

function describeLine(line: string): string {
  try {
    const { text, err } = JSON.parse(line) as { text?: string; err?: { message?: string } };
    return [text, err?.message].filter((part) => part !== undefined).join(': ');
  } catch {
    return line;
  }
}

export function count(names: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const name of names.toSorted()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
