import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CliError, EXIT, usageError } from './exit.ts';

/** A secret, and its source for messages. */
export interface Token {
  readonly secret: string;
  readonly source: string;
}

export interface TokenOptions {
  readonly tokenFile: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** --token-file, else SLUICE_TOKEN, else the file that the server wrote at its first start. */
export function findToken({ tokenFile, environment }: TokenOptions): Token {
  if (tokenFile !== undefined) return check(readNamedFile(tokenFile), tokenFile);
  const given = environment['SLUICE_TOKEN']?.trim();
  if (given) return check(given, 'SLUICE_TOKEN');
  const file = path.join(environment['SLUICE_DATA'] || 'data', 'admin-token');
  const found = readAdminToken(file);
  if ('secret' in found) return check(found.secret, file);
  throw new CliError(
    EXIT.unauthorized,
    `There is no token. Looked in SLUICE_TOKEN (not set) and in the file ${file} (${found.trouble}).\n` +
      'Set SLUICE_TOKEN, name a file with --token-file, or set SLUICE_DATA to the data folder of the server.',
  );
}

function readNamedFile(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim();
  } catch (error) {
    throw usageError(`The token file ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function readAdminToken(file: string): { readonly secret: string } | { readonly trouble: string } {
  try {
    return { secret: readFileSync(file, 'utf8').trim() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { trouble: 'no such file' };
    return { trouble: code === 'EACCES' ? 'this user may not read it' : String(code) };
  }
}

/** Refuses a token that no header can hold, without printing it. */
function check(secret: string, source: string): Token {
  if (/^[\x21-\x7e]+$/.test(secret)) return { secret, source };
  throw new CliError(
    EXIT.unauthorized,
    `What ${source} holds is not a token: it must be one line of visible characters.`,
  );
}
