import { Type } from 'typebox';
import { record, text } from './schema.ts';

/** The field of the body of a read that clients repeat. */
export const polled = {
  ifVersion: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'The version of the answer before. If the answer is still the same, only { unchanged: true, version } comes back.',
      'x-sluice-message': 'must be the version of an answer, a text of at most 100 characters',
    }),
  ),
};

/** The field of the answer. Answers of acts have the same shape without it. */
export const versioned = {
  version: Type.Optional(text('Names this answer, for ifVersion. Only in answers of reads, and not on /trunk/v1.')),
};

/** The answer to `ifVersion` where nothing has changed. */
export const Unchanged = record('Unchanged', 'The answer is still the one with this version.', {
  unchanged: Type.Literal(true, { description: 'Always true.' }),
  version: text('The version that was sent.'),
});
