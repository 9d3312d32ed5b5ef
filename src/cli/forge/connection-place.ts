import { access, constants, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { connectionFileOf } from '../../config/connection-file.ts';
import type { ForgeKind } from '../../lib/forge-kind.ts';
import { succeeds } from '../../lib/succeeds.ts';
import { CliError, EXIT, usageError } from '../core/exit.ts';
import { isReachable } from './manifest.ts';

/** A connection that a setup makes, and the folder that keeps it. */
export interface ConnectionPlace {
  readonly kind: ForgeKind;
  readonly host: string;
  readonly dataFolder: string;
}

/** The data folder of the server on this machine. */
export function findDataFolder(): string {
  return path.resolve(process.env['SLUICE_DATA'] || 'data');
}

/** Returns true if there is a connection to replace. */
// SPEC G95
export async function refuseReplacing(
  { kind, dataFolder, host }: ConnectionPlace,
  { replace }: { readonly replace?: true },
): Promise<boolean> {
  const file = connectionFileOf(dataFolder, kind, host);
  const isThere = await succeeds(access(file));
  if (isThere && !replace)
    throw new CliError(EXIT.refused, `${host} is connected already (${file}). Add --replace to connect it anew.`);
  return isThere;
}

/** Checked first: a key that cannot be stored would have to be made again. */
export async function refuseUnwritable({ kind, dataFolder, host }: ConnectionPlace): Promise<void> {
  const folder = path.dirname(connectionFileOf(dataFolder, kind, host));
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK);
  } catch (error) {
    throw new CliError(
      EXIT.refused,
      `The connection could not be kept in ${folder} (${(error as NodeJS.ErrnoException).code}). Run this as the user of the server, with its SLUICE_DATA.`,
    );
  }
}

/** Every server writes its id into its data folder. */
export function hasServer({ dataFolder }: ConnectionPlace): Promise<boolean> {
  return succeeds(access(path.join(dataFolder, 'server-id')));
}

/** The address under which a forge reaches the server. Undefined when none is known. */
export function publicUrlOf({ url }: { readonly url?: string | undefined }): string | undefined {
  const given = url ?? (process.env['SLUICE_URL'] || undefined);
  if (given === undefined) return undefined;
  if (!URL.canParse(given))
    throw usageError(`"${given}" is not the address of a server. Set --url to one such as https://sluice.acme.dev.`);
  return isReachable(given) ? given.replace(/\/+$/, '').replace(/\/v1$/, '') : undefined;
}

/** A new connection, with the local facts that decide how a server picks it up. */
export interface NewConnection {
  readonly kind: ForgeKind;
  readonly host: string;
  readonly dataFolder: string;
  readonly isReplaced: boolean;
  /** A server has used this data folder. */
  readonly hasServer: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Tells whether the operator must act before a server uses the connection. */
export function describeServer(connection: NewConnection): string {
  const { kind, host, environment } = connection;
  if (isOf(connection)) {
    return `SLUICE_${kind.toUpperCase()}_* in the environment connect ${host} too, and win over this file. To use the file, unset them for the server, and start it again.`;
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
    ? 'Start the server again: until then it uses the former connection.'
    : `A running server detects it within seconds. Restart a server that was connected to ${host} before.`;
}

function isOf({ kind, host, environment }: NewConnection): boolean {
  const { SLUICE_GITEA_URL: gitea, SLUICE_GITLAB_URL: gitlab } = environment;
  const url = kind === 'gitea' ? gitea : gitlab;
  if (kind !== 'github') return url !== undefined && URL.canParse(url) && new URL(url).host === host;
  const isConnected = Boolean(environment['SLUICE_GITHUB_APP_ID'] || environment['SLUICE_GITHUB_TOKEN']);
  return isConnected && (environment['SLUICE_GITHUB_HOST'] || 'github.com').toLowerCase() === host;
}
