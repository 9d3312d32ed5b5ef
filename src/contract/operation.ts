import type { TSchema } from 'typebox';
import type { Scope } from '../storage/accounts.ts';
import type { ErrorCode } from './errors.ts';
import type { Received, View } from './schema.ts';

/** At most 100,000 items are valid. One more is parsed, so that validation can refuse the list. */
export interface LongList {
  /** A key of the body's top level. */
  readonly key: string;
  /** The largest number of fields of an item: these do not count against the limit of keys either. */
  readonly fields: number;
}

/** One operation of the API. It validates requests, writes replies, and makes the OpenAPI document and the client. */
export interface Operation<Body extends TSchema = TSchema, Reply extends TSchema = TSchema> {
  readonly name: string;
  readonly method: 'POST' | 'GET';
  /** Below the mount (/v1). */
  readonly path: string;
  readonly tag: 'Pull requests' | 'Queues' | 'Flaky tests' | 'Uploaders' | 'Repositories' | 'Access' | 'Operations';
  readonly scope: Scope;
  /** With a field of the body beyond these, it needs the scope `admin`. */
  readonly openFields?: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** The JSON body of a POST, or the query of a GET. */
  readonly body: Body;
  /** The fields of `body` are form fields beside files, or query parameters with one file as the body. */
  readonly hasFiles?: true;
  /** Open without a token to a fork's workflow run, which the header x-forked-workflow-run-id names. */
  readonly isForForks?: true;
  /** A list in `body` that may exceed the general limit of values (H13). */
  readonly longList?: LongList;
  /** Clients repeat this read: the body has `polled`, the reply `versioned`, and an unchanged reply is not repeated. */
  readonly isPolled?: true;
  /** The operation that repeats this read. The documented reply is the answer alone, and `ifVersion` is deprecated. */
  readonly polledBy?: string;
  readonly reply: Reply;
  /** The reply where the body has `prs`. */
  readonly bulkReply?: TSchema;
  /** A client that repeats it with the same header `Idempotency-Key` gets the first answer again. */
  readonly isIdempotent?: true;
  /** The product that /trunk/v1 follows has no such operation, so it is not there. */
  readonly isOnlyOnV1?: true;
  /** Fields of the reply that are not repeated. Such a reply is not compressed either. */
  readonly secrets?: readonly string[];
  /** The status of success. Default: 200. */
  readonly status?: 202;
  /** The media type of the reply. Default: JSON. */
  readonly replyType?: string;
  /** Besides those that every operation has. */
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly body: unknown; readonly reply: unknown };
}

export type RequestOf<Op extends Operation> = Received<Op['body']>;
export type ReplyOf<Op extends Operation> = View<Op['reply']>;

// SPEC A50
export function scopeOf({ scope, openFields }: Operation, body: unknown): Scope {
  if (openFields === undefined) return scope;
  return Object.keys(body as object).every((name) => openFields.includes(name)) ? scope : 'admin';
}

type Defaulted = 'method' | 'path';

export type Definition<Body extends TSchema, Reply extends TSchema> = Omit<
  Operation<Body, Reply>,
  Defaulted | 'name' | 'tag'
> &
  Partial<Pick<Operation, Defaulted>>;

/** Defines operations of one tag: a POST to `/<name>` unless the definition says otherwise. */
export function operationsOf(tag: Operation['tag']) {
  return <Body extends TSchema, Reply extends TSchema>(
    name: string,
    definition: Definition<Body, Reply>,
  ): Operation<Body, Reply> => ({ name, method: 'POST', path: `/${name}`, tag, ...definition });
}
