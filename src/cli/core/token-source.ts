import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CliError, EXIT, usageError } from './exit.ts';
import { hostsFileOf, readHosts } from './hosts.ts';
import { readSecretFile } from './secret-file.ts';

export interface Token {
  readonly secret: string;
  readonly source: string;
}

export interface TokenOptions {
  /** The address of the server that is to get it. */
  readonly url: string;
  readonly tokenFile: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** --token-file, else SLUICE_TOKEN, else that of a login, else the file that the server wrote at its first start. */
export function findToken({ url, tokenFile, environment }: TokenOptions): Token {
  if (tokenFile !== undefined) return checkToken(readNamedFile(tokenFile), tokenFile);
  const given = environment['SLUICE_TOKEN']?.trim();
  if (given) return checkToken(given, 'SLUICE_TOKEN');
  const kept = readHosts(environment).tokens[url];
  if (kept !== undefined) return checkToken(kept, `${hostsFileOf(environment)} (sluice login)`);
  const file = path.join(environment['SLUICE_DATA'] || 'data', 'admin-token');
  const found = readAdminToken(file);
  if ('secret' in found) return checkToken(found.secret, file);
  throw new CliError(
    EXIT.unauthorized,
    `There is no token. Looked in SLUICE_TOKEN (not set), for a login at ${url} (none) and in the file ${file} (${found.trouble}).\n` +
      `Run \`sluice login ${url}\`, set SLUICE_TOKEN, name a file with --token-file, or set SLUICE_DATA to the data folder of the server.`,
  );
}

export function readNamedFile(file: string): string {
  try {
    return (file === '-' ? readFileSync(0, 'utf8') : readSecretFile(file)).trim();
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw usageError(`The token file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function readAdminToken(file: string): { readonly secret: string } | { readonly trouble: string } {
  try {
    return { secret: readSecretFile(file).trim() };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { trouble: 'no such file' };
    return { trouble: code === 'EACCES' ? 'this user may not read it' : String(code) };
  }
}

/** Refuses a token that no header can hold, without printing it. */
export function checkToken(secret: string, source: string): Token {
  if (/^[\x21-\x7e]+$/.test(secret)) return { secret, source };
  throw new CliError(
    EXIT.unauthorized,
    `What ${source} holds is not a token: it must be one line of visible characters.`,
  );
}
