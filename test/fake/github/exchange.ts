import type { Answer, NoAnswer } from '../hosted/answer.ts';
import type { Caller, World } from './model.ts';

/** A complete HTTP request. */
export interface Ask {
  readonly world: World;
  readonly method: string;
  /** Without the query and a leading `/api/v3`. */
  readonly path: string;
  /**
   * `GET /repos/{owner}/{repo}`, `POST /graphql`, `git-upload-pack`, `git-receive-pack`. An unknown route is `GET ?`.
   */
  readonly route: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
  readonly caller: Caller;
  /** The owner of the rate limit: `installation 12`, `app 1`, `user 7`, `nobody 0`. */
  readonly payer: string;
  readonly area: Area;
}

/** Git does not count against rate limits. */
export type Area = 'rest' | 'graphql' | 'git';

/** The values of the path's variables. */
export type Params = Readonly<Record<string, string>>;

/** `path` is in the form of the OpenAPI description: `/repos/{owner}/{repo}`. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly handle: (ask: Ask, params: Params) => Answer | Promise<Answer>;
}

export interface RequestRecord {
  readonly area: Area;
  readonly method: string;
  readonly path: string;
  readonly route: string;
  /** Operation name of a GraphQL query. */
  readonly query: string | undefined;
  readonly status: number | NoAnswer;
  /** Login of the user, `app/slug`, or undefined. */
  readonly who: string | undefined;
  readonly at: number;
}
