import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import type { ForkProofs } from '../../app/access/fork-proofs.ts';
import type { App } from '../../app/core/app.ts';
import type { Caller } from '../../app/core/caller.ts';
import type { Refusal } from '../../app/core/refusal.ts';
import type { BulkResults } from '../../contract/bulk.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Received, View } from '../../contract/schema.ts';
import type { Dialect } from './dialect.ts';
import type { IncomingUpload } from './incoming-upload.ts';

/** The circumstances of a request, which few handlers need. */
export interface RequestContext {
  /** Set without a token: the workflow run that the request names, and the service that proves it. */
  readonly fork: { readonly runId: string; readonly proofs: ForkProofs } | undefined;
  readonly dialect: Dialect;
  /** The server's address as this client sees it, without a slash at the end. */
  readonly baseUrl: string;
  readonly lastEventId: string | undefined;
  isAdmitted(): Promise<boolean>;
}

/** `caller` is undefined only for operations that are open to forks. */
type Handle<Body, Reply> = (app: App, caller: Caller, body: Body, context: RequestContext) => Promise<Reply | Refusal>;

export type Handler = Handle<never, unknown>;

export interface Route {
  readonly operation: Operation;
  readonly handle: Handler;
  /** Replies are cached views, so that their serialized form is cached too. */
  readonly isReused: boolean;
}

/** Connects an operation of the contract to its use case; the types of body and reply must fit. */
export function route<Body extends TSchema, Reply extends TSchema>(
  operation: Operation<Body, Reply>,
  handle: Handle<Received<Body>, View<Reply> | BulkResults>,
  { isReused = false }: { readonly isReused?: boolean } = {},
): Route {
  return { operation: operation as Operation, handle: handle as Handler, isReused };
}

/** For an operation with files, whose body is read while it arrives. */
export function uploadRoute<Reply extends TSchema>(
  operation: Operation<TSchema, Reply>,
  handle: Handle<IncomingUpload, View<Reply>>,
): Route {
  return { operation: operation as Operation, handle: handle as Handler, isReused: false };
}

export function streamRoute<Body extends TSchema>(
  operation: Operation<Body>,
  handle: Handle<Received<Body>, Readable>,
): Route {
  return { operation: operation as Operation, handle: handle as Handler, isReused: false };
}
