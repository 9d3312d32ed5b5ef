import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateNumber, Landed } from '../engine/model/candidate.ts';
import type { PrNumber } from '../engine/model/pull-request.ts';
import type { Sha } from '../lib/sha.ts';
import { landedText } from './landing.ts';

const sha = (letter: string) => letter.repeat(40) as Sha;
const short = (letter: string) => letter.repeat(12);

/** Commit a landed by a push to b and was tested as c. Each has its own tree. */
const LANDED: Landed = {
  kind: 'SAME_TREE',
  sha: sha('a'),
  tree: sha('1'),
  pushedSha: sha('b'),
  pushedTree: sha('2'),
  testedSha: sha('c'),
  testedTree: sha('2'),
  candidate: 1 as CandidateNumber,
  base: sha('d'),
  composedWith: [],
  at: 0,
};

describe('the proof of a landing in words [L18]', () => {
  for (const [title, landed, text] of [
    [
      'the tested commit itself',
      { kind: 'IDENTICAL', sha: sha('c'), tree: sha('2'), pushedSha: sha('c') },
      `Its commit ${short('c')} is exactly the one that was tested.`,
    ],
    [
      'beneath the tested commit',
      { kind: 'IDENTICAL', pushedSha: sha('c') },
      `Its commit ${short('a')} landed together with others; the last of them, ${short('c')}, is exactly the commit that was tested.`,
    ],
    [
      'made again with the tested files',
      { sha: sha('b'), tree: sha('2') },
      `Its commit ${short('b')} has exactly the files that were tested as ${short('c')}.`,
    ],
    [
      'beneath one that was made again',
      {},
      `Its commit ${short('a')} landed together with others; the last of them, ${short('b')}, has exactly the files that were tested as ${short('c')}.`,
    ],
    [
      'beside others',
      { kind: 'COMPOSED', sha: sha('b'), pushedTree: sha('3'), composedWith: [3, 4] as PrNumber[] },
      `Its commit ${short('b')} has the files that were tested as ${short('c')}; #3, #4 landed in parallel (no shared targets).`,
    ],
    [
      'beneath one that landed beside others',
      { kind: 'COMPOSED', pushedTree: sha('3'), composedWith: [3] as PrNumber[] },
      `Its commit ${short('a')} landed together with others; the last of them, ${short('b')}, has the files that were tested as ${short('c')}; #3 landed in parallel (no shared targets).`,
    ],
    [
      'merged by a forge before the last',
      { kind: 'PREFIX', pushedSha: sha('a'), pushedTree: sha('1') },
      `Its commit ${short('a')} was merged before the last of the pull requests that were tested together as ${short('c')}, and was not tested alone.`,
    ],
    [
      'merged by a forge onto something else',
      { kind: 'UNPROVEN', pushedSha: sha('a'), pushedTree: sha('1') },
      `Its commit ${short('a')} was merged by the forge onto another commit than it was tested on: the result was not tested.`,
    ],
  ] as const) {
    it(title, () => assert.equal(landedText({ ...LANDED, ...landed }), text));
  }

  it('names twenty of those it landed beside', () => {
    const composedWith = Array.from({ length: 25 }, (_, index) => (index + 1) as PrNumber);
    assert.match(landedText({ ...LANDED, kind: 'COMPOSED', composedWith }), /#20 and 5 more landed in parallel/);
  });
});
