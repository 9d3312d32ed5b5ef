export interface RepositoryName {
  /** With its port, if it has one. */
  readonly host: string;
  /** May contain slashes: groups of GitLab. */
  readonly owner: string;
  readonly name: string;
}

const MAX_LENGTH = 2_000;
const SCHEMES = new Set(['ssh', 'git', 'http', 'https', 'ftp', 'ftps']);

/**
 * Reads `scheme://[user@]host/owner/name` and `user@host:owner/name`, so that both forms of one repository give the
 * same three names. Undefined for any other text, such as a local path.
 */
// SPEC U13
export function parseRepositoryUrl(url: string): RepositoryName | undefined {
  const text = url.trim();
  if (text.length > MAX_LENGTH) return undefined;
  const at = text.indexOf('://');
  const parts = at < 0 ? parseShort(text) : parseLong(text.slice(0, at), text.slice(at + 3));
  if (parts === undefined) return undefined;
  const path = parts.path.split('/').filter((segment) => segment !== '');
  const name = path.pop()?.replace(/\.git$/, '');
  const owner = path.join('/');
  if (parts.host === '' || owner === '' || name === undefined || name === '') return undefined;
  return { host: parts.host, owner, name };
}

interface UrlParts {
  readonly host: string;
  readonly path: string;
}

function parseLong(scheme: string, rest: string): UrlParts | undefined {
  if (!SCHEMES.has(scheme.toLowerCase())) return undefined;
  const slash = rest.indexOf('/');
  if (slash < 0) return undefined;
  const authority = rest.slice(0, slash);
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  return isHost(host) ? { host, path: rest.slice(slash + 1) } : undefined;
}

function parseShort(text: string): UrlParts | undefined {
  const colon = text.indexOf(':');
  const at = text.indexOf('@');
  if (at <= 0 || colon < at || text.slice(0, colon).includes('/')) return undefined;
  const host = text.slice(at + 1, colon);
  return isHost(host) ? { host, path: text.slice(colon + 1) } : undefined;
}

function isHost(text: string): boolean {
  return /^[^\s@/?#\\]+$/.test(text);
}
