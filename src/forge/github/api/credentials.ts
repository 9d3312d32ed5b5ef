import type { Instant } from '../../../lib/clock.ts';
import type { GithubAuth, GithubConnection } from './connection.ts';

export interface Credentials {
  current(): GithubAuth;
  /** Reads the credentials again after a refusal. Answers whether they changed. */
  refresh(refused: GithubAuth): Promise<boolean>;
  /** Reads the webhook secret again after a mismatch. Anyone can send a wrong signature, so this is rate-limited. */
  rereadSecret(now: Instant): void;
}

const REREAD_EVERY_MS = 10_000;

// SPEC G91
export function createCredentials({ auth, reload }: GithubConnection): Credentials {
  let current = auth;
  let reading: Promise<void> | undefined;
  let rereadAt = Number.NEGATIVE_INFINITY;

  async function read(): Promise<void> {
    const read = await reload?.().catch(() => undefined);
    if (read !== undefined) current = read;
  }

  return {
    current: () => current,
    async refresh(refused) {
      // Many requests are refused at once. The first one reads for all.
      if (!isSame(current, refused)) return true;
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
      return !isSame(current, refused);
    },
    rereadSecret(now) {
      if (reload === undefined || reading !== undefined || Math.abs(now - rereadAt) < REREAD_EVERY_MS) return;
      rereadAt = now;
      reading = read().finally(() => {
        reading = undefined;
      });
    },
  };
}

function isSame(a: GithubAuth, b: GithubAuth): boolean {
  if (a.kind === 'app') return b.kind === 'app' && a.appId === b.appId && a.privateKey === b.privateKey;
  return b.kind === 'token' && a.token === b.token;
}
