export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Buffers are sent as they are, everything else as JSON. Undefined: no body. */
  readonly body?: unknown;
}

/** The request hangs, or the connection is reset. */
export type NoAnswer = 'silence' | 'reset';
