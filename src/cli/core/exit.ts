/** The exit codes; docs/cli.md and `sluice --help` list the same. */
export const EXIT = { ok: 0, refused: 1, usage: 2, unavailable: 3, unauthorized: 4, bug: 70 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const EXIT_CODES_TEXT = `Exit codes:
  0  done
  1  refused by the server (4xx), or by you when asked
  2  wrong usage
  3  no server answers, or it fails (5xx, network); or the output cannot be written
  4  no token, or one that is not valid or not allowed to do this (401, 403)`;

/** An expected failure of a command; its message tells the user what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: ExitCode;
  /** The server's problem document, if there is one; printed with --json. */
  readonly problem: unknown;

  /** When the server asks to be called again, in seconds. */
  readonly retryAfter: number | undefined;

  constructor(exitCode: ExitCode, message: string, problem?: unknown, retryAfter?: number) {
    super(message);
    this.exitCode = exitCode;
    this.problem = problem;
    this.retryAfter = retryAfter;
  }

  /** The HTTP status, if the server answered. */
  get status(): number | undefined {
    return (this.problem as { readonly status?: number } | undefined)?.status;
  }
}

export function usageError(message: string): CliError {
  return new CliError(EXIT.usage, message);
}
