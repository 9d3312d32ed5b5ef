import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CliError, EXIT } from '../core/exit.ts';
import { withRetries } from './retry.ts';

describe('trying again [W17]', () => {
  async function attempt(
    errors: readonly Error[],
    retries = 3,
  ): Promise<{ tries: number; said: string[]; error?: unknown }> {
    let tries = 0;
    const said: string[] = [];
    const task = async (): Promise<void> => {
      const error = errors[tries];
      tries += 1;
      if (error !== undefined) throw error;
    };
    try {
      await withRetries(task, { retries, say: (text) => said.push(text), delayMs: 1 });
      return { tries, said };
    } catch (error) {
      return { tries, said, error };
    }
  }

  const away = new CliError(EXIT.unavailable, 'No server answers.\nMore.');
  const refused = new CliError(EXIT.refused, 'No.', { status: 400 });

  it('goes on while the server is away or busy, with longer and longer pauses', async () => {
    const busy = new CliError(EXIT.refused, 'Slow down.', { status: 429 });
    const { tries, said, error } = await attempt([away, busy]);
    assert.deepEqual([tries, error], [3, undefined]);
    assert.deepEqual(said, ['No server answers. Trying again in 0.001 s.', 'Slow down. Trying again in 0.002 s.']);
  });

  it('ends after so many tries, and at once where it is refused', async () => {
    assert.deepEqual(await attempt([away, away, away], 1), {
      tries: 2,
      said: ['No server answers. Trying again in 0.001 s.'],
      error: away,
    });
    assert.deepEqual(await attempt([refused]), { tries: 1, said: [], error: refused });
  });
});
