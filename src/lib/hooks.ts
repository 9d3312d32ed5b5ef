/** The hooks of a repository that this server runs. */
export interface Hooks {
  /** The hooks that a push runs, in that order. */
  readonly names: readonly string[];
  /** The hooks that git skips. */
  readonly notExecutable: readonly string[];
  /** The reason why the hooks must not run, as the end of a sentence. */
  readonly problem: string | undefined;
}

/** Hook results beyond the answer to a ref change. `source` is the id of the repository. */
export type HookNews =
  /** The hooks did not run. */
  | { readonly kind: 'off'; readonly source: string; readonly problem: string }
  /** The hooks after the ref change ran too long and were stopped. */
  | { readonly kind: 'stopped'; readonly source: string; readonly ref: string; readonly words: string }
  | { readonly kind: 'printed'; readonly source: string; readonly ref: string; readonly words: string };
