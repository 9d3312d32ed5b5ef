import { GithubClient } from '../../src/forge/github/api/client.ts';
import { githubConnection } from '../../src/forge/github/api/connection.ts';
import { createHosting } from '../../src/forge/github/create-hosting.ts';
import { createProtection, type Protection } from '../../src/forge/github/protection.ts';
import type { Hosting } from '../../src/forge/hosting.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createJsonLog } from '../../src/lib/log.ts';
import type { FakeGithub } from '../fake/github/fake-github.ts';

export interface ConnectedHosting {
  readonly client: GithubClient;
  readonly protection: Protection;
  readonly hosting: Required<Hosting>;
}

/** Connects Sluice's side to a GitHub, without a server. */
export function connectHosting(github: FakeGithub, by: 'app' | 'token' = 'app'): ConnectedHosting {
  const auth =
    by === 'token'
      ? ({ kind: 'token', token: github.createToken('acme') } as const)
      : ({ kind: 'app', appId: String(github.app.id), privateKey: github.privateKey } as const);
  const client = new GithubClient({
    connection: githubConnection({ host: 'github.com', apiUrl: github.url, webUrl: github.url, auth }),
    clock: systemClock,
    log: createJsonLog('error', () => undefined),
    paceMs: 0,
  });
  const protection = createProtection({ client, clock: systemClock });
  const hosting = createHosting({ client, protection, testBranchPrefix: 'sluice' });
  return { client, protection, hosting };
}
