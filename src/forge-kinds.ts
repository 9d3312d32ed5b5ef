import { type LoadedAccount, loadAccountFiles, loadAccountVariables } from './config/account-forge.ts';
import type { FoundConnections } from './config/connection-file.ts';
import type { ConnectionSource } from './config/load-connections.ts';
import { loadGithubFiles, loadGithubVariables } from './config/load-github.ts';
import type { Forge } from './forge/forge.ts';
import type { Timing } from './lib/clock.ts';
import type { ForgeKind } from './lib/forge-kind.ts';
import type { Log } from './lib/log.ts';

export interface ForgeOptions {
  readonly directory: string;
  readonly testBranchPrefix: string;
  readonly clock: Timing;
  readonly log: Log;
}

/** A forge that is configured and not connected yet. */
export interface Connectable {
  readonly kind: ForgeKind;
  readonly host: string;
  connect(options: ForgeOptions): Promise<Forge>;
}

/** Every kind of forge with accounts. A server loads the libraries of the kinds that it connects. */
export const FORGE_KINDS: readonly ConnectionSource<Connectable>[] = [
  sourceOf('github', { loadVariables: loadGithubVariables, loadFiles: loadGithubFiles }, async (loaded, options) => {
    const { createGithubForge } = await import('./forge/github/create-github-forge.ts');
    const { githubConnection } = await import('./forge/github/api/connection.ts');
    const { reload, ...settings } = loaded;
    const connection = githubConnection({ ...settings, ...(reload === undefined ? {} : { reload }) });
    return createGithubForge({ connection, ...options });
  }),
  sourceOf('gitea', accountSource('gitea'), async (connection, options) => {
    const { createGiteaForge } = await import('./forge/gitea/create-gitea-forge.ts');
    return createGiteaForge({ connection, ...options });
  }),
  sourceOf('gitlab', accountSource('gitlab'), async (connection, options) => {
    const { createGitlabForge } = await import('./forge/gitlab/create-gitlab-forge.ts');
    return createGitlabForge({ connection, ...options });
  }),
];

function accountSource(kind: 'gitea' | 'gitlab'): ConnectionSource<LoadedAccount> {
  return {
    loadVariables: (config) => loadAccountVariables(kind, config[kind]),
    loadFiles: (dataFolder, connected) => loadAccountFiles(kind, dataFolder, connected),
  };
}

function sourceOf<Loaded extends { readonly host: string }>(
  kind: ForgeKind,
  source: ConnectionSource<Loaded>,
  connect: (loaded: Loaded, options: ForgeOptions) => Promise<Forge>,
): ConnectionSource<Connectable> {
  const toConnectable = (loaded: Loaded): Connectable => ({
    kind,
    host: loaded.host,
    connect: (options) => connect(loaded, options),
  });
  return {
    loadVariables: async (config) => (await source.loadVariables(config)).map(toConnectable),
    loadFiles: async (dataFolder, connected): Promise<FoundConnections<Connectable>> => {
      const { connections, ...rest } = await source.loadFiles(dataFolder, connected);
      return { connections: connections.map(toConnectable), ...rest };
    },
  };
}
