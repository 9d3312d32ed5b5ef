import { type TSchema, Type } from 'typebox';
import { PrNumber } from './common.ts';
import { EntryRecord } from './entry.ts';
import { ERRORS } from './errors.ts';
import { boolean, component, exactlyOneOf, fixedEnum, integer, list, record, text, type View } from './schema.ts';

const MAX_PRS = 100;

export function oneOrSeveral<Item extends TSchema>(pr: Item) {
  const item = Type.Union([PrNumber, pr], {
    description: 'A number, or an object as pr is.',
    'x-sluice-message': 'must be the number of a pull request, or an object as pr is',
  });
  const description = `Several pull requests instead of pr, at most ${MAX_PRS}, in this order. Each has its own answer in results, and one that is refused does not stop the others.`;
  return {
    pr: Type.Optional(pr),
    prs: Type.Optional(Type.Array(item, { minItems: 1, maxItems: MAX_PRS, description })),
  };
}

/** The rule of a body with `oneOrSeveral`. */
export const ONE_OR_SEVERAL = {
  ...exactlyOneOf('pr', 'prs'),
  'x-sluice-field': 'pr',
  'x-sluice-rule': 'is required, or prs for several, but not both',
} as const;

const BulkProblem = record('BulkProblem', 'Why a pull request was refused.', {
  code: component('ErrorCode', fixedEnum(Object.keys(ERRORS), 'A stable code.')),
  status: integer('The HTTP status that the request would have had for this one alone.'),
  detail: text('A sentence that says what to do.'),
});

export const BulkResults = record('BulkResults', 'How it went for each of several pull requests.', {
  results: list(
    record('BulkResult', 'How it went for one of them.', {
      prNumber: integer('Number of the pull request.'),
      ok: boolean('Whether it was done.'),
      entry: Type.Optional(EntryRecord),
      problem: Type.Optional(BulkProblem),
    }),
    'In the order of prs.',
  ),
});

export type BulkResults = View<typeof BulkResults>;
