import type { TSchema } from 'typebox';
import type { Scope } from '../storage/accounts.ts';
import type { ErrorCode } from './errors.ts';

/** At most 100,000 items count; where there are more, one more of them is read. */
export interface LongList {
  /** Of the body itself, not of anything in it. */
  readonly key: string;
  /** How many fields each of its items has at most: those do not count either. */
  readonly fields: number;
}

/** One operation of the API: what validates requests, writes answers, and makes the OpenAPI document and the client. */
export interface Operation<Body extends TSchema = TSchema, Reply extends TSchema = TSchema> {
  readonly name: string;
  readonly method: 'POST' | 'GET';
  /** Below the mount (/v1). */
  readonly path: string;
  readonly tag: 'Pull requests' | 'Queues' | 'Flaky tests' | 'Uploaders' | 'Repositories' | 'Access' | 'Operations';
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  /** Of a POST the JSON body; of a GET the query. */
  readonly body: Body;
  /** The fields of `body` come in a form, with files beside them, or in the query, with one file as the body. */
  readonly hasFiles?: true;
  /** Also without a token, for a workflow run of a fork that proves itself by the header x-forked-workflow-run-id. */
  readonly isForForks?: true;
  /** A list of `body` that may hold more values than bodies otherwise may (H13). */
  readonly longList?: LongList;
  readonly reply: Reply;
  /** Of success; 200 unless said. */
  readonly status?: 202;
  /** The media type of the answer; JSON unless said. */
  readonly replyType?: string;
  /** Beside those that every operation can give. */
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly body: unknown; readonly reply: unknown };
}

export function operation<Body extends TSchema, Reply extends TSchema>(
  definition: Operation<Body, Reply>,
): Operation<Body, Reply> {
  return definition;
}
