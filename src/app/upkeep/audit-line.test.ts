import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { Candidate } from '../../engine/model/candidate.ts';
import type { CandidateLanded, QueueEvent } from '../../engine/model/event.ts';
import type { LineAnswer } from '../../forge/forge.ts';
import type { Sha } from '../../lib/sha.ts';
import { auditStretch, type RecordedEvent, readStory, type Stretch, splitStretch } from './audit-line.ts';

const sha = (text: string) => text as Sha;

function landed(base: string, pushed: string, more: Partial<CandidateLanded> = {}): CandidateLanded {
  const [pushedSha, pushedTree] = [sha(pushed), sha(`tree of ${pushed}`)];
  const candidate = 1 as CandidateLanded['candidate'];
  const what = { kind: 'candidate_landed', at: 0, candidate, how: 'IDENTICAL', entries: [] } as const;
  return { ...what, base: sha(base), pushedSha, pushedTree, ...more };
}

function seen(head: string | undefined): QueueEvent {
  return { kind: 'target_observed', at: 0, head: head as Sha | undefined, since: 1, isDescendant: true };
}

function story(start: string | undefined, ...events: readonly QueueEvent[]) {
  const recorded: RecordedEvent[] = events.map((event, index) => ({ version: index + 2, event }));
  return readStory(start as Sha | undefined, recorded);
}

function ways(stretches: readonly Stretch[]): string[] {
  return stretches.map(({ from, to, landings }) => `${from}..${to} ${landings.length}`);
}

describe('the record of a target branch', () => {
  it('is one stretch for landings one upon the other [N4]', () => {
    const { stretches, head, findings } = story('M', landed('M', 'A'), landed('A', 'B'));
    assert.deepEqual(ways(stretches), ['M..B 2']);
    assert.deepEqual([head, findings], ['B', []]);
    assert.deepEqual(
      stretches.flatMap(splitStretch).map(({ from, to }) => from + to),
      ['MA', 'AB'],
    );
  });

  it('begins anew after a foreign push [N10]', () => {
    const problem = { kind: 'target_moved', head: sha('Y'), isDescendant: true } as const;
    const refused: QueueEvent = { kind: 'landing_refused', at: 0, candidate: 2 as never, problem };
    const told = story('M', landed('M', 'A'), seen('X'), landed('X', 'B'), refused, landed('Y', 'C'));
    assert.deepEqual(ways(told.stretches), ['M..A 1', 'X..B 1', 'Y..C 1']);
    assert.deepEqual(told.findings, []);
    assert.deepEqual([story('M', seen(undefined)).head, story(undefined, seen('M')).head], [undefined, 'M']);
  });

  it('goes on from where a landing that stopped half-way saw the target [N4] [L29]', () => {
    const moved = { kind: 'target_moved', head: sha('X'), isDescendant: true } as const;
    const stray = { kind: 'strayed', prNumber: 2 as never, sha: sha('S'), tree: sha('t'), head: sha('S') } as const;
    const refused = { kind: 'entry_refused', prNumber: 2 as never, reason: 'GITHUB_API_MERGE_PR_FAILED' } as const;
    const how = { how: 'PREFIX' } as const;
    const told = story(
      'M',
      landed('M', 'A', { ...how, stopped: moved }),
      landed('X', 'B', { ...how, stopped: refused }),
      landed('B', 'C', { ...how, stopped: { ...stray, isDescendant: true } }),
      landed('S', 'S', { ...how, stopped: moved }),
      landed('X', 'D'),
    );
    assert.deepEqual(ways(told.stretches), ['M..A 1', 'X..C 2', 'X..D 1']);
    assert.deepEqual([told.head, told.findings], ['D', []]);
  });

  it('counts a landing that was recorded twice as one [N4]', () => {
    assert.deepEqual(ways(story('M', landed('M', 'A'), landed('M', 'A')).stretches), ['M..A 1']);
  });

  it('does not hold where a landing begins elsewhere than where the target was [N4]', () => {
    for (const start of ['Z', undefined]) {
      const { findings, stretches, head } = story(start, landed('M', 'A'));
      assert.deepEqual(pluck(findings, 'version'), [2]);
      assert.deepEqual([ways(stretches), head], [['M..A 1'], 'A']);
    }
  });
});

describe('a landing and git', () => {
  const passed = {
    commit: { sha: sha('A'), tree: sha('tree of A') },
    pass: { at: 0, by: 'own_run', provenBy: 1, provenSha: sha('A') },
    composedWith: [],
  } as unknown as Candidate;
  const commit = (name: string, tree = `tree of ${name}`) => ({
    sha: sha(name),
    tree: sha(tree),
    author: '',
    subject: '',
  });
  const line: LineAnswer = { kind: 'line', commits: [commit('A'), commit('inner')] };

  function doubts(event: CandidateLanded, answer: LineAnswer = line, candidate: Candidate | undefined = passed) {
    const stretch = { from: event.base, to: event.pushedSha, landings: [{ version: 7, event }], isPast: false };
    const candidates = new Map(candidate === undefined ? [] : [[1, candidate]]);
    return auditStretch(stretch, answer, candidates).map(({ text }) => text);
  }

  it('is proven by the commit, its tree and the pass [N4]', () => {
    assert.deepEqual(doubts(landed('M', 'A')), []);
    const remade = { kind: 'line', commits: [commit('R', 'tree of A')] } as const;
    assert.deepEqual(doubts(landed('M', 'R', { how: 'SAME_TREE', pushedTree: sha('tree of A') }), remade), []);
    const composed = { ...passed, composedWith: [3] } as unknown as Candidate;
    const sum = { kind: 'line', commits: [commit('S')] } as const;
    assert.deepEqual(doubts(landed('M', 'S', { how: 'COMPOSED' }), sum, composed), []);
    assert.deepEqual(doubts(landed('M', 'A', { how: 'PREFIX' })), []);
  });

  it('is proven for each entry that a merge API has put there [N4] [L9]', () => {
    const entries = (tree: string) => [
      { prNumber: 1 as never, sha: sha('inner'), tree: sha(tree) },
      { prNumber: 2 as never, sha: sha('A'), tree: sha('tree of A') },
    ];
    const how = { how: 'SAME_TREE' } as const;
    assert.deepEqual(doubts(landed('M', 'A', { ...how, entries: entries('tree of inner') })), []);
    assert.match(
      doubts(landed('M', 'A', { ...how, entries: entries('other') })).join(),
      /has inner for #1, which is not/,
    );
  });

  const unproven: readonly (readonly [string, string[]])[] = [
    ['a line that leads elsewhere', doubts(landed('M', 'A'), { kind: 'broken' })],
    ['commits that are not there any more', doubts(landed('M', 'A'), { kind: 'lost' })],
    ['an old head that is only merged', doubts(landed('M', 'A'), { kind: 'merged' })],
    ['more commits than anyone follows', doubts(landed('M', 'A'), { kind: 'too_long' })],
    ['a commit that is not on the line', doubts(landed('M', 'A'), { kind: 'line', commits: [commit('B')] })],
    ['another tree than recorded', doubts(landed('M', 'A'), { kind: 'line', commits: [commit('A', 'other')] })],
    ['what is called so by itself', doubts(landed('M', 'A', { how: 'UNPROVEN' }))],
    ['a candidate that is not known', doubts(landed('M', 'A', { candidate: 2 as never }))],
    ['a candidate without a commit', doubts(landed('M', 'A'), line, { ...passed, commit: undefined })],
    ['a candidate without a pass', doubts(landed('M', 'A'), line, { ...passed, pass: undefined })],
    ['another commit than the one that passed', doubts(landed('M', 'inner'))],
    ['another tree than the one that passed', doubts(landed('M', 'inner', { how: 'SAME_TREE' }))],
    ['a composition with nothing', doubts(landed('M', 'A', { how: 'COMPOSED' }))],
  ];
  for (const [what, found] of unproven) {
    it(`is not proven by ${what} [N4]`, () => {
      assert.equal(found.length, 1);
    });
  }

  it('needs no proof after a foreign push removed it and git dropped it [N4]', () => {
    const [stretch] = story('M', landed('M', 'A'), seen('X')).stretches;
    assert.ok(stretch?.isPast);
    assert.deepEqual(auditStretch(stretch, { kind: 'lost' }, new Map()), []);
    assert.equal(auditStretch(stretch, { kind: 'broken' }, new Map()).length, 1);
  });

  it('is one finding for all landings on a line that is not there [N4]', () => {
    const [stretch] = story('M', landed('M', 'A'), landed('A', 'B')).stretches;
    assert.ok(stretch);
    assert.equal(auditStretch(stretch, { kind: 'broken' }, new Map()).length, 1);
  });
});
