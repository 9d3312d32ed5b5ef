/** A new connection, with the local facts that decide how a server picks it up. */
export interface NewConnection {
  readonly host: string;
  readonly dataFolder: string;
  readonly isReplaced: boolean;
  /** A server has used this data folder. */
  readonly hasServer: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Tells whether the operator must act before a server uses the connection. */
export function describeServer(connection: NewConnection): string {
  const { host, environment } = connection;
  if (isOf(host, environment)) {
    return `SLUICE_GITHUB_* in the environment connect ${host} too, and win over this file. To use the file, unset them for the server, and start it again.`;
  }
  // Each server on one database has its own data folder.
  const others = environment['SLUICE_DATABASE_URL']
    ? '\nEvery other server on the database needs a copy of the file in its own data folder.'
    : '';
  return `${describeThis(connection)}${others}`;
}

function describeThis({ host, dataFolder, isReplaced, hasServer }: NewConnection): string {
  if (!hasServer) {
    return `No server has used ${dataFolder} yet: start one with SLUICE_DATA=${dataFolder}. If yours has another data folder, move the file there.`;
  }
  return isReplaced
    ? 'Start the server again: until then it acts as the former App.'
    : `A running server detects it within seconds. Restart a server that was connected to ${host} before.`;
}

function isOf(host: string, environment: NewConnection['environment']): boolean {
  const isConnected = Boolean(environment['SLUICE_GITHUB_APP_ID'] || environment['SLUICE_GITHUB_TOKEN']);
  return isConnected && (environment['SLUICE_GITHUB_HOST'] || 'github.com').toLowerCase() === host;
}
