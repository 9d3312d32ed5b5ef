import path from 'node:path';
import type { App } from './app/core/app.ts';
import { PLAIN_GIT_HOST } from './app/core/directory.ts';
import type { Config } from './config/config.ts';
import { loadConnections } from './config/load-connections.ts';
import type { Forge } from './forge/forge.ts';
import { createPlainForge } from './forge/plain/plain-forge.ts';
import { type Connectable, FORGE_KINDS, type ForgeOptions } from './forge-kinds.ts';
import { Fault } from './lib/fault.ts';
import { PeriodicTask } from './lib/periodic.ts';

/** Setting up a connection takes longer than this. */
const EVERY_MS = 3_000;

type Parts = Pick<App, 'clock' | 'log'>;
type ForgeConfig = Pick<
  Config,
  'dataFolder' | 'github' | 'gitea' | 'gitlab' | 'testBranchPrefix' | 'hookTimeoutSeconds'
>;

/** `watch` connects forges that are set up while the server runs. */
export async function connectForges(config: ForgeConfig, parts: Parts) {
  const { dataFolder, testBranchPrefix, hookTimeoutSeconds } = config;
  const options: ForgeOptions = { directory: path.join(dataFolder, 'git'), testBranchPrefix, ...parts };
  const { directory } = options;
  const hookLimitMs = hookTimeoutSeconds * 1_000;
  const forges = new Map<string, Forge>([
    [PLAIN_GIT_HOST, createPlainForge({ directory, testBranchPrefix, hookLimitMs })],
  ]);
  const loaded = await Promise.all(FORGE_KINDS.map((kind) => loadConnections(kind, config)));
  const connections = loaded.flatMap((each) => each.connections);
  refuseTwoKinds(connections);
  for (const warning of loaded.flatMap(({ warnings }) => warnings)) parts.log.warn({}, warning);
  for (const connection of connections) forges.set(connection.host, await connection.connect(options));
  return { forges, watch: createWatch(forges, dataFolder, options) };
}

/** A repository is known by its host, so that a host is one forge. */
function refuseTwoKinds(connections: readonly Connectable[]): void {
  for (const [host, [first, second]] of Map.groupBy(connections, (connection) => connection.host)) {
    if (first === undefined || second === undefined) continue;
    throw new Fault(
      'MISCONFIGURED',
      `${host} is connected as ${first.kind} and as ${second.kind}. Remove one of them.`,
    );
  }
}

/** A connection that is replaced or removed stays in use until the server restarts, because work may depend on it. */
// SPEC G92
function createWatch(forges: Map<string, Forge>, dataFolder: string, options: ForgeOptions): PeriodicTask {
  const { log } = options;
  const reported = new Set<string>();
  const complain = (problem: string) => {
    if (!reported.has(problem)) log.warn({}, problem);
    reported.add(problem);
  };
  const connectNew = async (connection: Connectable, isStopped: () => boolean) => {
    const forge = await connection.connect(options);
    // The stopping server has already closed the forges in the map, and would miss this one.
    if (isStopped()) return forge.close();
    forges.set(connection.host, forge);
    log.info({ host: connection.host }, 'forge connected');
  };
  const findNew = async (isStopped: () => boolean) => {
    for (const kind of FORGE_KINDS) {
      const { connections, warnings, problems } = await kind.loadFiles(dataFolder, new Set(forges.keys()));
      for (const problem of [...problems, ...warnings]) complain(problem);
      for (const connection of connections) {
        await connectNew(connection, isStopped).catch((error: unknown) =>
          complain(`${connection.host} could not be connected: ${reasonOf(error)}`),
        );
      }
    }
  };
  // An unusable file must not affect the forges that are connected. It is reported once, not every few seconds.
  const round = (isStopped: () => boolean) =>
    findNew(isStopped).catch((error: unknown) =>
      complain(`New connections to forges could not be looked for: ${reasonOf(error)}`),
    );
  return new PeriodicTask(options, {
    firstMs: EVERY_MS,
    everyMs: EVERY_MS,
    failure: 'could not connect forges',
    round,
  });
}

function reasonOf(error: unknown): string {
  return error instanceof Fault ? error.detail : String(error);
}
