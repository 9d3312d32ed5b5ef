import { readFileSync } from 'node:fs';
import path from 'node:path';
import { usageError } from './exit.ts';
import { readHosts } from './hosts.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';

type Environment = Readonly<Record<string, string | undefined>>;

// SPEC W26
export function findAddress(given: string | undefined, environment: Environment): string {
  return parseAddress(
    given ??
      (environment['SLUICE_URL'] || readServerFile(environment) || readHosts(environment).current || DEFAULT_URL),
  );
}

/** The server writes its address beside its token. */
function readServerFile(environment: Environment): string | undefined {
  try {
    return readFileSync(path.join(environment['SLUICE_DATA'] || 'data', 'url'), 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function parseAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw usageError(
      `"${text}" is not the address of a server. Set SLUICE_URL or --url to one such as ${DEFAULT_URL}.`,
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw usageError('The address of the server must hold no user and no password. Set SLUICE_TOKEN instead.');
  }
  // Users may paste the base URL of the API, which ends in /v1.
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/+v1$/, '');
}
