import type { Caller, World } from './model.ts';

/** A question over HTTP, read to its end. */
export interface Ask {
  readonly world: World;
  readonly method: string;
  /** Without query, and without a leading `/api/v3`. */
  readonly path: string;
  /** `GET /repos/{owner}/{repo}`, `POST /graphql`, `git-upload-pack`, `git-receive-pack`; what is nowhere: `GET ?`. */
  readonly route: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly caller: Caller;
  /** Whose budget it is: `installation 12`, `app 1`, `user 7`, `nobody 0`. */
  readonly payer: string;
  readonly area: Area;
}

/** What a request is for. Git is not counted against budgets. */
export type Area = 'rest' | 'graphql' | 'git';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Buffers go out as they are, everything else as JSON; undefined: no body. */
  readonly body?: unknown;
}

/** There never is an answer, or the connection ends without one. */
export type NoAnswer = 'silence' | 'reset';

/** Somewhere a question goes. `path` is as in the OpenAPI description: `/repos/{owner}/{repo}`. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handle: (ask: Ask, params: Readonly<Record<string, string>>) => Answer | Promise<Answer>;
}

/** Stands between the wire and what answers. */
export interface Meddler {
  serve(ask: Ask, act: () => Promise<Answer>): Promise<Answer | NoAnswer>;
}

export interface RequestRecord {
  readonly area: Area;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  /** What whoever asked calls the question; of GraphQL only. */
  readonly query: string | undefined;
  readonly status: number | NoAnswer;
  /** Login of the user, `app/slug`, or undefined. */
  readonly who: string | undefined;
  readonly at: number;
}
