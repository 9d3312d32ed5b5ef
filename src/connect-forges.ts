import path from 'node:path';
import type { App, Forges } from './app/core/app.ts';
import { PLAIN_GIT_HOST } from './app/core/plain-git-host.ts';
import type { Config } from './config/config.ts';
import { type LoadedGithub, loadGithub, loadNewGithub } from './config/load-github.ts';
import type { Forge } from './forge/forge.ts';
import { createPlainForge } from './forge/plain/plain-forge.ts';
import { Fault } from './lib/fault.ts';
import { PeriodicTask } from './lib/periodic.ts';

/** Setting up a connection includes installing an App, which takes longer than this. */
const EVERY_MS = 3_000;

type Parts = Pick<App, 'clock' | 'log'>;
type ForgeConfig = Pick<Config, 'dataFolder' | 'github' | 'testBranchPrefix' | 'hookTimeoutSeconds'>;

export interface ConnectedForges {
  readonly forges: Forges;
  /** Connects GitHubs that are set up while the server runs. */
  readonly watch: PeriodicTask;
}

export async function connectForges(config: ForgeConfig, parts: Parts): Promise<ConnectedForges> {
  const { testBranchPrefix, hookTimeoutSeconds } = config;
  const hookLimitMs = hookTimeoutSeconds * 1_000;
  const forges = new Map<string, Forge>([
    [PLAIN_GIT_HOST, createPlainForge({ directory: directoryOf(config), testBranchPrefix, hookLimitMs })],
  ]);
  const { connections, warnings } = await loadGithub(config);
  for (const warning of warnings) parts.log.warn({}, warning);
  for (const connection of connections) forges.set(connection.host, await connect(connection, config, parts));
  return { forges, watch: createWatch(forges, config, parts) };
}

/** A connection that is replaced or removed stays in use until the server restarts, because work may depend on it. */
// SPEC G92
function createWatch(forges: Map<string, Forge>, config: ForgeConfig, parts: Parts): PeriodicTask {
  const reported = new Set<string>();
  const complain = (problem: string) => {
    if (!reported.has(problem)) parts.log.warn({}, problem);
    reported.add(problem);
  };
  const connectNew = async (connection: LoadedGithub, isStopped: () => boolean) => {
    const forge = await connect(connection, config, parts);
    // The stopping server has already closed the forges in the map, and would miss this one.
    if (isStopped()) return forge.close();
    forges.set(connection.host, forge);
    parts.log.info({ host: connection.host }, 'forge connected');
  };
  const findNew = async (isStopped: () => boolean) => {
    const { connections, warnings, problems } = await loadNewGithub(config, new Set(forges.keys()));
    for (const problem of [...problems, ...warnings]) complain(problem);
    for (const connection of connections) {
      await connectNew(connection, isStopped).catch((error: unknown) =>
        complain(`${connection.host} could not be connected: ${reasonOf(error)}`),
      );
    }
  };
  // An unusable file must not affect the forges that are connected. It is reported once, not every few seconds.
  const round = (isStopped: () => boolean) =>
    findNew(isStopped).catch((error: unknown) =>
      complain(`New connections to GitHub could not be looked for: ${reasonOf(error)}`),
    );
  return new PeriodicTask(parts, { firstMs: EVERY_MS, everyMs: EVERY_MS, failure: 'could not connect forges', round });
}

function reasonOf(error: unknown): string {
  return error instanceof Fault ? error.detail : String(error);
}

async function connect({ reload, ...settings }: LoadedGithub, config: ForgeConfig, parts: Parts): Promise<Forge> {
  // Servers without GitHub do not load its libraries.
  const { createGithubForge } = await import('./forge/github/create-github-forge.ts');
  const { githubConnection } = await import('./forge/github/api/connection.ts');
  const connection = githubConnection({ ...settings, ...(reload === undefined ? {} : { reload }) });
  const { testBranchPrefix } = config;
  return createGithubForge({ connection, directory: directoryOf(config), testBranchPrefix, ...parts });
}

function directoryOf({ dataFolder }: ForgeConfig): string {
  return path.join(dataFolder, 'git');
}
