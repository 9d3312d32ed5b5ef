import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sha } from '../lib/sha.ts';
import type { CandidateNumber, Landed } from './candidate.ts';
import { landedText } from './landed-text.ts';
import type { PrNumber } from './pull-request.ts';

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
      `Its commit ${short('b')} has the files that were tested as ${short('c')}, and what #3, #4 had landed in other files.`,
    ],
    [
      'beneath one that landed beside others',
      { kind: 'COMPOSED', pushedTree: sha('3'), composedWith: [3] as PrNumber[] },
      `Its commit ${short('a')} landed together with others; the last of them, ${short('b')}, has the files that were tested as ${short('c')}, and what #3 had landed in other files.`,
    ],
    [
      'merged by a forge before the last',
      { kind: 'PREFIX', pushedSha: sha('a'), pushedTree: sha('1') },
      `Its commit ${short('a')} was merged before the last of those that were tested together as ${short('c')}, and was not tested by itself.`,
    ],
    [
      'merged by a forge onto something else',
      { kind: 'UNPROVEN', pushedSha: sha('a'), pushedTree: sha('1') },
      `Its commit ${short('a')} was merged by the forge onto something else than it was tested on: what is there now was not tested.`,
    ],
  ] as const) {
    it(title, () => assert.equal(landedText({ ...LANDED, ...landed }), text));
  }

  it('names twenty of those it landed beside', () => {
    const composedWith = Array.from({ length: 25 }, (_, index) => (index + 1) as PrNumber);
    assert.match(landedText({ ...LANDED, kind: 'COMPOSED', composedWith }), /#20 and 5 more had landed in other files/);
  });
});
