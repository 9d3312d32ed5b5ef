import type { Framework } from './selects/select-tests.ts';

/** A check of the built-in runner. */
export interface RunnerCheck {
  readonly name: string;
  readonly command: string;
  readonly timeoutMinutes: number | null;
  /** Whether the check may use the network of its machine. */
  readonly network?: boolean;
  /** Whether the check may make user namespaces, as the sandboxes of browsers do. */
  readonly userNamespaces?: boolean;
  /** Runs first, in the same place. */
  readonly prepare?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the globs of the repository. */
  readonly junit?: readonly string[];
  /** The framework of its tests. The command has "$@" where arguments that select tests go. */
  readonly selects?: Framework;
  /** Programs that must be on PATH, and whose content is part of the key of the cache. */
  readonly tools?: readonly string[];
  readonly cache?: RunnerCache;
  /** Names of the secrets that it gets as variables. */
  readonly secrets?: readonly string[];
}

export interface RunnerCache {
  /** Globs of the files that it follows from. */
  readonly key: readonly string[];
  /** `~/…`: in the home of the check. Any other: in its work tree. */
  readonly paths: readonly string[];
  /** Whether one of another key is of use, as whatever reads it looks at its content. */
  readonly verified?: boolean;
  /** Whether it holds all that `prepare` does. */
  readonly result?: boolean;
}

/** Lets the repository's file choose the checks, and says how much they may ask for. */
export interface FileChecksGrant {
  readonly network: boolean;
  readonly userNamespaces: boolean;
  readonly longestMinutes: number;
  /** Names of secrets. */
  readonly secrets?: readonly string[];
  /** Pull requests get them too: everybody who can push one can read them. */
  readonly secretsForPullRequests?: boolean;
}
