import { hash } from 'node:crypto';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { PullRequestNode } from './pull-request-text.ts';

/** Caches why pull requests are blocked, from one poll to the next. */
export interface BlockedMemory {
  /** Queries only pull requests that changed, and from time to time the others. */
  read(repositoryId: string, blocked: readonly PullRequestNode[], ask: AskReasons): Promise<Facts>;
  forget(): void;
}

type Facts = ReadonlyMap<PrNumber, PullRequestFacts>;
type AskReasons = (numbers: readonly PrNumber[]) => Promise<Facts>;

interface BlockedOwner {
  /** Hash of the polled fields. */
  readonly mark: string;
  readonly facts: PullRequestFacts | undefined;
  readonly askedIn: number;
}

interface Seen {
  readonly looks: number;
  readonly known: ReadonlyMap<PrNumber, BlockedOwner>;
}

/** The query is too large for many at once, and some reasons change unseen: a few are asked in each poll. */
const TRUSTED_FOR = 10;
const ASKED_AGAIN_AT_ONCE = 20;

// SPEC G127
export function createBlockedMemory(): BlockedMemory {
  const memory = new Map<string, Seen>();
  return {
    async read(repositoryId, blocked, ask) {
      const before = memory.get(repositoryId) ?? { looks: 0, known: new Map() };
      const looks = before.looks + 1;
      const numbers = choose(before, blocked);
      const asked = numbers.length === 0 ? new Map() : await ask(numbers);
      const known = new Map<PrNumber, BlockedOwner>();
      for (const node of blocked) {
        const { number } = node;
        const old = numbers.includes(number) ? undefined : before.known.get(number);
        known.set(number, old ?? { mark: markOf(node), facts: asked.get(number), askedIn: looks });
      }
      // GitHub is still computing the mergeability, so the answer is not cached.
      const found = [...known].filter(([, { facts }]) => facts?.mergeability !== 'IN_PROGRESS');
      memory.set(repositoryId, { looks, known: new Map(found) });
      return new Map([...known].flatMap(([number, { facts }]) => (facts === undefined ? [] : [[number, facts]])));
    },
    forget: () => memory.clear(),
  };
}

function choose({ looks, known }: Seen, blocked: readonly PullRequestNode[]): readonly PrNumber[] {
  const isSame = (node: PullRequestNode) => known.get(node.number)?.mark === markOf(node);
  const age = ({ number }: PullRequestNode) => looks + 1 - (known.get(number)?.askedIn ?? 0);
  const old = blocked
    .filter((node) => isSame(node) && age(node) >= TRUSTED_FOR)
    .toSorted((a, b) => age(b) - age(a))
    .slice(0, ASKED_AGAIN_AT_ONCE);
  return [...blocked.filter((node) => !isSame(node)), ...old].map(({ number }) => number);
}

function markOf(node: PullRequestNode): string {
  return hash('sha256', JSON.stringify(node));
}
