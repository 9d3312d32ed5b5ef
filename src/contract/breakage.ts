import { Type } from 'typebox';
import { commitId, EXAMPLE_QUEUE, Pr, queueRef } from './common.ts';
import { EntryRecord, EXAMPLE_RECORD } from './entry.ts';
import { operationsOf } from './operation.ts';
import { boolean, exactlyOneOf, integer, optional, record, text } from './schema.ts';

const operation = operationsOf('Queues');

export const Breakage = record('Breakage', 'The search for the commit that broke the target branch.', {
  state: text(
    'SEARCHING; FOUND: a commit fails and the one before it passes; OUTSIDE: also the oldest fails; UNKNOWN: a commit cannot be tested.',
  ),
  commits: integer('How many commits of the branch come into question.'),
  runs: integer('How many of them were tested, or are under test.'),
  ...optional({
    commit: text('The commit that broke the branch.'),
    before: text('The commit before it, which passes.'),
    prNumber: integer('The pull request that landed as this commit. Absent: it was pushed past the queue.'),
  }),
  text: text('The same in words.'),
});

export const findBreakage = operation('findBreakage', {
  scope: 'maintain',
  isOnlyOnV1: true,
  summary: 'Find the commit that broke the target branch',
  description:
    'A queue that holds because its head fails looks for the cause by itself: it tests former heads, at most 7 among 64. This answers how far it is; with `again`, or if it has not begun, it begins. The answer while the branch is read is SEARCHING with no commits.',
  body: Type.Object({ ...queueRef, ...optional({ again: boolean('Begin anew. Absent: false.') }) }),
  reply: Breakage,
  errors: ['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'QUEUE_NOT_HELD'],
  example: {
    body: EXAMPLE_QUEUE,
    reply: {
      ...{ state: 'FOUND', commits: 12, runs: 4, prNumber: 5 },
      commit: '5327044f1c1c5b2ab1a2a9b4d8e3c1f0a7d6e5b4',
      before: '2644671a3b19c0de5f6a7b8c9d0e1f2a3b4c5d6e',
      text: 'The likely cause is #5, which landed as 5327044f1c1c: it fails, and 2644671a3b19 before it passes. Take it back: sluice revert 5',
    },
  },
});

export const revertPullRequest = operation('revertPullRequest', {
  scope: 'maintain',
  isOnlyOnV1: true,
  summary: 'Take back what landed, by a pull request',
  description:
    'Makes a pull request on the head of the target branch without the changes of one that landed (`pr`), by whatever method, or of one commit of the branch (`commit`). On plain git it gets the next free number; elsewhere it is of the account of Sluice. It is submitted urgent as a repair, and lands with the proof of any pull request.',
  body: Type.Object(
    {
      ...queueRef,
      ...optional({
        pr: Pr,
        commit: commitId('A commit on the first-parent line of the target branch.'),
        submit: boolean('Submit it. Absent: true.'),
      }),
    },
    exactlyOneOf('pr', 'commit'),
  ),
  reply: record('Revert', 'The pull request that takes it back.', {
    prNumber: integer('Its number.'),
    prSha: text('Its head commit.'),
    prUrl: text('Its address at the forge, or its ref on plain git.'),
    prTitle: text('Its title.'),
    commit: text('The last commit that it takes back.'),
    ...optional({ entry: EntryRecord }),
    text: text('What became of it, in words.'),
  }),
  errors: [
    ...(['REPOSITORY_NOT_FOUND', 'QUEUE_NOT_FOUND', 'PULL_REQUEST_NOT_FOUND', 'FORGE_UNAVAILABLE'] as const),
    ...(['REVERT_CONFLICTS', 'NOTHING_TO_REVERT', 'PULL_REQUEST_NOT_ENQUEUEABLE', 'PULL_REQUEST_LANDING'] as const),
  ],
  example: {
    body: { ...EXAMPLE_QUEUE, pr: { number: 5 } },
    reply: {
      ...{ prNumber: 9, prUrl: 'refs/pull/9/head', prTitle: 'Revert "Add a cart" (#5)' },
      prSha: '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567',
      commit: '5327044f1c1c5b2ab1a2a9b4d8e3c1f0a7d6e5b4',
      entry: EXAMPLE_RECORD,
      text: '#9 takes back #5, and goes first as a repair.',
    },
  },
});
