import { Type } from 'typebox';
import type { PrNumber as PullRequestNumber } from '../engine/model/pull-request.ts';
import type { Sha } from '../lib/sha.ts';
import { component, nameText, patternText, readAs, record } from './schema.ts';

/** Uploaders copy names from a clone URL, where a blank is %20 and a personal group is ~ann. */
const NAME = '(?:[A-Za-z0-9_.]|%20)(?:[A-Za-z0-9_.-]|%20)*';

export const Repo = record('Repo', 'The repository.', {
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?$',
    description: 'Repository host name; `local` for plain git repositories.',
    'x-sluice-message': 'must be a host name such as github.com, or local for plain git',
  }),
  owner: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: `^(?!\\.{1,2}(?:/|$))~?${NAME}(?:/(?!\\.{1,2}(?:/|$))${NAME})*$`,
    description: 'Repository owner or organization; for hosts with nested groups, the whole path of groups.',
    'x-sluice-message': 'must be 1 to 255 letters, digits, dots, hyphens and underscores, with / between groups',
  }),
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    pattern: `^(?!\\.{1,2}$)${NAME}$`,
    description: 'Repository name.',
    'x-sluice-message': 'must be 1 to 255 letters, digits, dots, hyphens and underscores',
  }),
});

export const TargetBranch = nameText(255, 'The branch the merge queue targets.');

const GivenNumber = Type.Union(
  [
    Type.Integer({ minimum: 1, maximum: 4294967295 }),
    Type.String({
      pattern:
        '^(?:[1-9][0-9]{0,8}|[1-3][0-9]{9}|4[01][0-9]{8}|42[0-8][0-9]{7}|429[0-3][0-9]{6}|4294[0-8][0-9]{5}|42949[0-5][0-9]{4}|429496[0-6][0-9]{3}|4294967[01][0-9]{2}|42949672[0-8][0-9]|429496729[0-5])$',
    }),
  ],
  {
    description: 'Pull request number; a string of digits is accepted too.',
    'x-sluice-message': 'must be a whole number from 1 to 4294967295',
  },
);

// SPEC H22
export const PrNumber = component(
  'PrNumber',
  readAs(GivenNumber, (given) => Number(given) as PullRequestNumber),
);

export function commitId(description: string) {
  const schema = patternText(
    '^(?:[0-9a-fA-F]{40}|[0-9a-fA-F]{64})$',
    description,
    'must be a whole commit id of 40 or 64 hexadecimal digits',
  );
  return readAs(schema, (given) => given.toLowerCase() as Sha);
}

export const Pr = record('Pr', 'The pull request.', { number: PrNumber });

/** Names a queue in every merge-queue operation. */
export const queueRef = { repo: Repo, targetBranch: TargetBranch };

export const entryRef = { repo: Repo, targetBranch: TargetBranch, pr: Pr };

export const Empty = component(
  'Empty',
  Type.Object({}, { description: 'Nothing more to say.', additionalProperties: false }),
);

export const EXAMPLE_REPO = { host: 'local', owner: 'acme', name: 'app' };
export const EXAMPLE_QUEUE = { repo: EXAMPLE_REPO, targetBranch: 'main' };
export const EXAMPLE_ENTRY = { ...EXAMPLE_QUEUE, pr: { number: 7 } };
