import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Operation } from '../../contract/operation.ts';
import { publicSchema } from '../../contract/schema.ts';

export type Reply = Readonly<Record<string, unknown>>;

interface Asked {
  readonly reply: FastifyReply;
  /** The validated body of the request. */
  readonly body: unknown;
}

interface Written {
  readonly text: string;
  readonly version: string;
}

/** The first reply compiles the schema: compiling them all would delay the start. Cached views are written once. */
export function createReplyWriter(
  operation: Operation,
  { isReused }: { readonly isReused: boolean },
): (answer: Reply, asked: Asked) => string {
  const schema = publicSchema(operation.reply) as Reply;
  const bulkSchema = publicSchema(operation.bulkReply) as Reply | undefined;
  const schemaOf = (answer: Reply) => (bulkSchema !== undefined && 'results' in answer ? bulkSchema : schema);
  const serialize = (answer: Reply, { reply }: Asked) => reply.serializeInput(answer, schemaOf(answer)) as string;
  const toWritten = (text: string): Written => (operation.isPolled ? withVersion(text) : { text, version: '' });
  const known = new WeakMap<Reply, Written>();
  return (answer, asked) => {
    const written = known.get(answer) ?? toWritten(serialize(answer, asked));
    if (isReused && !known.has(answer)) known.set(answer, { ...written, text: inOnePiece(written.text) });
    return operation.isPolled ? unlessKnown(written, asked.body) : written.text;
  };
}

/** A text that was put together of hundreds of pieces is put together again by every write of it. */
function inOnePiece(text: string): string {
  return Buffer.from(text).toString();
}

/** A part of a reply, which its schema would refuse. */
export function writePart({ isPolled }: Operation, part: unknown, body: unknown): string {
  const text = JSON.stringify(part);
  return isPolled ? unlessKnown(withVersion(text), body) : text;
}

function unlessKnown({ text, version }: Written, body: unknown): string {
  const { ifVersion } = body as { readonly ifVersion?: string };
  return ifVersion === version ? JSON.stringify({ unchanged: true, version }) : text;
}

/** The version is a digest of the text, so that every server has the same one for the same answer and no other. */
// SPEC H37
function withVersion(text: string): Written {
  const version = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  return { text: `${text.slice(0, -1)},"version":"${version}"}`, version };
}
