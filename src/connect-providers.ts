import { People } from './app/access/people.ts';
import type { App } from './app/core/app.ts';
import type { Config } from './config/config.ts';
import { loadGithubFiles, loadGithubVariables } from './config/load-github.ts';
import { readOidcSecret } from './config/oidc.ts';
import { loadRoles } from './config/roles.ts';
import type { IdentityProvider } from './identity/identity.ts';
import type { Timing } from './lib/clock.ts';
import type { Log } from './lib/log.ts';
import { PeriodicTask } from './lib/periodic.ts';

type Parts = Pick<App, 'store' | 'forges' | 'log'> & { readonly clock: Timing };

const ROLES_MS = 30_000;

/** Those who prove who a person is, and the roles of people. They are asked when the first person signs in. */
export async function connectProviders(config: Config, parts: Parts) {
  const { oidc, hasGithubSignIn } = config;
  const found: IdentityProvider[] = hasGithubSignIn ? await connectGithub(config, parts) : [];
  if (oidc !== undefined) {
    const { createOidcProvider } = await import('./identity/oidc/create-oidc-provider.ts');
    found.unshift(createOidcProvider({ ...oidc, clientSecret: await readOidcSecret(oidc) }, parts));
  }
  const providers = new Map(found.map((provider) => [provider.key, provider]));
  const people = new People(parts, oidc === undefined ? [] : await loadRoles(oidc.rolesFile));
  const rounds = oidc === undefined ? [] : [createRolesRounds(people, oidc.rolesFile, parts)];
  return { identity: { providers, people } satisfies Pick<App, 'providers' | 'people'>, rounds };
}

// SPEC A53
export function createRolesRounds(
  people: People,
  file: string,
  parts: { readonly clock: Timing; readonly log: Log },
): PeriodicTask {
  const failure = 'the table of roles stays as it was';
  const round = async () => people.follow(await loadRoles(file));
  return new PeriodicTask(parts, { firstMs: ROLES_MS, everyMs: ROLES_MS, failure, round });
}

async function connectGithub(config: Config, { log }: Parts): Promise<IdentityProvider[]> {
  const { createGithubProvider } = await import('./identity/github/create-github-provider.ts');
  const { githubConnection } = await import('./forge/github/api/connection.ts');
  const byVariables = await loadGithubVariables(config);
  const { connections } = await loadGithubFiles(config.dataFolder, new Set(byVariables.map(({ host }) => host)));
  return [...byVariables, ...connections].flatMap((loaded) => {
    const { host, client } = loaded;
    if (client !== undefined) return [createGithubProvider({ ...githubConnection(connectionOf(loaded)), client })];
    log.warn(
      { host },
      `The connection to ${host} has no client id and secret, so that people cannot sign in with it. See sign-in.md.`,
    );
    return [];
  });
}

function connectionOf({ host, apiUrl, webUrl, auth }: Awaited<ReturnType<typeof loadGithubVariables>>[number]) {
  return { host, apiUrl, webUrl, auth };
}
