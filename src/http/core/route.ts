import type { Static, TSchema } from 'typebox';
import type { ForkProofs } from '../../app/access/fork-proofs.ts';
import type { App } from '../../app/core/app.ts';
import type { Caller } from '../../app/core/caller.ts';
import type { Refusal } from '../../app/core/refusal.ts';
import type { Operation } from '../../contract/operation.ts';
import type { Dialect } from './dialect.ts';
import type { IncomingUpload } from './incoming-upload.ts';

/** What an operation's handler knows of the request besides its body. */
export interface RequestContext {
  readonly app: App;
  /** Of the token; of operations that are also for forks, undefined where the request had none. */
  readonly caller: Caller;
  /** Where there is no token: the workflow run that the request says it comes from, and who proves it. */
  readonly fork: { readonly runId: string; readonly proofs: ForkProofs } | undefined;
  /** Of the mount that the request came to. */
  readonly dialect: Dialect;
  /** The server's own address as this client sees it, without a slash at its end. */
  readonly baseUrl: string;
}

export type Handler = (context: RequestContext, body: never) => Promise<unknown>;

export interface Route {
  readonly operation: Operation;
  readonly handle: Handler;
  /** Its answers are views that are made once for what they show: the same object is answered again and again. */
  readonly isReused: boolean;
}

/** Ties an operation of the contract to the code behind it; the types of body and answer must fit. */
export function route<Body extends TSchema, Reply extends TSchema>(
  operation: Operation<Body, Reply>,
  handle: (context: RequestContext, body: Static<Body>) => Promise<Immutable<Static<Reply>> | Refusal>,
  options: { readonly isReused?: boolean } = {},
): Route {
  return { operation: operation as Operation, handle: handle as Handler, isReused: options.isReused ?? false };
}

/** The same for an operation with files, whose body is read while it arrives. */
export function uploadRoute<Body extends TSchema, Reply extends TSchema>(
  operation: Operation<Body, Reply>,
  handle: (context: RequestContext, upload: IncomingUpload) => Promise<Static<Reply> | Refusal>,
): Route {
  return { operation: operation as Operation, handle: handle as Handler, isReused: false };
}

/** Answers are only read: what the app shares from its own state fits too. */
type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;
