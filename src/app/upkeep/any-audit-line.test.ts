import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { CandidateLanded } from '../../engine/model/event.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { LineAnswer } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';
import { auditStretch, type RecordedEvent, readStory } from './audit-line.ts';

/** A history of landings in git, in the event log and in the candidates. All three agree. */
interface History {
  readonly events: readonly RecordedEvent[];
  readonly line: Extract<LineAnswer, { kind: 'line' }>;
  readonly candidates: ReadonlyMap<number, Candidate>;
}

const KINDS = ['IDENTICAL', 'SAME_TREE', 'COMPOSED'] as const;
type Kind = (typeof KINDS)[number];
const kinds = fc.array(fc.constantFrom(...KINDS), { minLength: 1, maxLength: 6 });
const sha = (text: string) => text as Sha;

function tell(ways: readonly Kind[]): History {
  const events = ways.map((how, index): RecordedEvent => ({ version: index + 2, event: landed(how, index) }));
  const commits = ways.map((_, index) => ({ sha: head(index + 1), tree: tree(index + 1), author: 'A', subject: 'S' }));
  const candidates = new Map(ways.map((how, index) => [index + 1, candidate(how, index)]));
  return { events, line: { kind: 'line', commits: commits.toReversed() }, candidates };
}

const head = (index: number) => sha(`head ${index}`);
const tree = (index: number) => sha(`tree ${index}`);

function landed(how: Kind, index: number): CandidateLanded {
  const [pushedSha, pushedTree] = [head(index + 1), tree(index + 1)];
  const number = (index + 1) as CandidateLanded['candidate'];
  const entries = [{ prNumber: (index + 1) as PrNumber, sha: pushedSha, tree: pushedTree }];
  return { kind: 'candidate_landed', at: 0, candidate: number, how, base: head(index), pushedSha, pushedTree, entries };
}

function candidate(how: Kind, index: number): Candidate {
  const commit = {
    sha: how === 'IDENTICAL' ? head(index + 1) : sha(`tested ${index}`),
    tree: how === 'COMPOSED' ? sha(`tested tree ${index}`) : tree(index + 1),
  };
  const composedWith = how === 'COMPOSED' ? [99 as PrNumber] : [];
  return { number: index + 1, commit, composedWith, pass: { by: 'own_run' } } as unknown as Candidate;
}

function audit({ events, line, candidates }: History): number[] {
  const { stretches, findings } = readStory(head(0), events);
  const all = [...findings, ...stretches.flatMap((stretch) => auditStretch(stretch, line, candidates))];
  return all.map(({ version }) => version);
}

type Lie = (history: History, at: number, how: Kind) => History | undefined;

/** Each lie changes one of the three for one landing. Undefined if the changed history would still be true. */
const LIES: Readonly<Record<string, Lie>> = {
  'git has another tree': ({ line, ...rest }, at) => ({
    ...rest,
    line: {
      kind: 'line',
      commits: line.commits.map((commit) => (commit.sha === head(at + 1) ? { ...commit, tree: sha('lie') } : commit)),
    },
  }),
  'git lacks the commit': ({ line, ...rest }, at) => ({
    ...rest,
    line: { kind: 'line', commits: line.commits.filter((commit) => commit.sha !== head(at + 1)) },
  }),
  'another tree passed': (history, at, how) =>
    how === 'COMPOSED' ? undefined : withCandidate(history, at, { commit: { sha: head(at + 1), tree: sha('lie') } }),
  'another commit passed': (history, at, how) =>
    how !== 'IDENTICAL' ? undefined : withCandidate(history, at, { commit: { sha: sha('lie'), tree: tree(at + 1) } }),
  'nothing passed': (history, at) => withCandidate(history, at, { pass: undefined }),
  'nothing is recorded beside it': (history, at, how) =>
    how !== 'COMPOSED' ? undefined : withCandidate(history, at, { composedWith: [] }),
};

function withCandidate({ candidates, ...rest }: History, at: number, lie: Partial<Candidate>): History {
  const known = candidates.get(at + 1) as Candidate;
  return { ...rest, candidates: new Map([...candidates, [at + 1, { ...known, ...lie }]]) };
}

describe('the audit', () => {
  it('finds nothing where git, the log and the candidates agree [N4]', () => {
    fc.assert(fc.property(kinds, (ways) => assert.deepEqual(audit(tell(ways)), [])));
  });

  for (const [name, lie] of Object.entries(LIES)) {
    it(`finds exactly the landing of which one says otherwise: ${name} [N4]`, () => {
      fc.assert(
        fc.property(kinds, fc.nat(), (ways, pick) => {
          const at = pick % ways.length;
          const told = lie(tell(ways), at, ways[at] as Kind);
          if (told !== undefined) assert.deepEqual(audit(told), [at + 2]);
        }),
      );
    });
  }
});
