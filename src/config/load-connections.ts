import { Fault } from '../lib/fault.ts';
import type { Config } from './config.ts';
import type { FoundConnections } from './connection-file.ts';

/** The connections of one kind of forge, as they are configured. */
type OwnConfig = Pick<Config, 'dataFolder' | 'github' | 'gitea' | 'gitlab'>;

export interface ConnectionSource<Connection> {
  loadVariables(config: OwnConfig): Promise<readonly Connection[]>;
  /** Leaves out hosts that are connected. */
  loadFiles(dataFolder: string, connected: ReadonlySet<string>): Promise<FoundConnections<Connection>>;
}

// SPEC G67
export async function loadConnections<Connection extends { readonly host: string }>(
  source: ConnectionSource<Connection>,
  config: OwnConfig,
): Promise<Omit<FoundConnections<Connection>, 'problems'>> {
  const own = await source.loadVariables(config);
  const known = new Set(own.map(({ host }) => host));
  const { connections, warnings, problems } = await source.loadFiles(config.dataFolder, known);
  if (problems.length > 0) throw new Fault('MISCONFIGURED', problems.join('\n'));
  return { connections: [...own, ...connections], warnings };
}
