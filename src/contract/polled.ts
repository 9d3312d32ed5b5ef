import { Type } from 'typebox';
import { inputInstant, integer, nullable, record, text } from './schema.ts';

const IF_VERSION = {
  maxLength: 100,
  description:
    'The version of the answer before. If the answer is still the same, only { unchanged: true, version } comes back.',
  'x-sluice-message': 'must be the version of an answer, a text of at most 100 characters',
};

/** The field of the body of a read that clients repeat. */
export const polled = { ifVersion: Type.Optional(Type.String(IF_VERSION)) };

/** The same field of a read whose conditional form is an operation of its own. */
export function polledAs(form: string) {
  const description = `Deprecated: use ${form}. The next version ignores this field, and always sends the answer.`;
  return { ifVersion: Type.Optional(Type.String({ ...IF_VERSION, description, deprecated: true })) };
}

/** The field of the answer. Answers of acts have the same shape without it. */
export const versioned = {
  version: Type.Optional(text('Names this answer, for ifVersion. Only in answers of reads, and not on /trunk/v1.')),
};

/** The field of the body of a read that can look back. */
export const lookingBack = {
  at: Type.Optional(
    inputInstant('Answer as this server would have answered at this instant. It must not be in the future.'),
  ),
};

/** The field of the answer to it. */
export const lookedBack = {
  asOf: Type.Optional(
    record('AsOf', 'Only with at: what the answer was made from.', {
      version: integer('The version that the queue had. Versions grow with every change of the queue.'),
      event: nullable('string', 'The newest event of the queue by then, as listEvents names it. Null if none is kept.'),
    }),
  ),
};

/** The answer to `ifVersion` where nothing has changed. */
export const Unchanged = record('Unchanged', 'The answer is still the one with this version.', {
  unchanged: Type.Literal(true, { description: 'Always true.' }),
  version: text('The version that was sent.'),
});
