import { setTimeout as delay } from 'node:timers/promises';
import { CliError, EXIT } from '../core/exit.ts';

export interface RetryOptions {
  /** Retries after the first attempt. */
  readonly retries: number;
  readonly say: (text: string) => void;
  readonly delayMs?: number;
}

const FIRST_DELAY_MS = 1_000;
/** Refusals that a retry may get past. */
const PASSING: ReadonlySet<unknown> = new Set([408, 423, 425, 429]);

/** Retries with a doubling delay if the server is unavailable or overloaded. A refusal is final. */
// SPEC W17
export async function withRetries<T>(
  task: () => Promise<T>,
  { retries, say, delayMs = FIRST_DELAY_MS }: RetryOptions,
): Promise<T> {
  for (let tried = 0; ; tried += 1) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof CliError) || !isPassing(error) || tried >= retries) throw error;
      const pauseMs = Math.max(delayMs * 2 ** tried, (error.retryAfter ?? 0) * 1000);
      say(`${error.message.split('\n')[0]} Trying again in ${pauseMs / 1000} s.`);
      await delay(pauseMs);
    }
  }
}

function isPassing({ exitCode, status }: CliError): boolean {
  return exitCode === EXIT.unavailable || PASSING.has(status);
}
