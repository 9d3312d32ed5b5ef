import { hash } from 'node:crypto';
import type { PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import type { PullRequestNode } from './pull-request-text.ts';

/** What is known of pull requests that GitHub blocks, from one look at a repository to the next. */
export interface BlockedMemory {
  /** Asks only about those of which something changed, and now and then about the others. */
  read(repositoryId: string, blocked: readonly PullRequestNode[], ask: AskReasons): Promise<Facts>;
  forget(): void;
}

type Facts = ReadonlyMap<PrNumber, PullRequestFacts>;
type AskReasons = (numbers: readonly PrNumber[]) => Promise<Facts>;

interface BlockedOwner {
  /** Of what a look sees of it. */
  readonly mark: string;
  readonly facts: PullRequestFacts | undefined;
  readonly askedIn: number;
}

interface Seen {
  readonly looks: number;
  readonly known: ReadonlyMap<PrNumber, BlockedOwner>;
}

/**
 * Why one is blocked takes a question that is too large for many at once, and a hundred that wait for a review would be
 * asked about every minute. Not everything behind a reason shows in a look: so the reasons are asked for again after so
 * many looks, of a few in each.
 */
const TRUSTED_FOR = 10;
const ASKED_AGAIN_AT_ONCE = 20;

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
      // What GitHub is still finding out is no reason to keep.
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
