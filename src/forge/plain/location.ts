import { resolve } from 'node:path';
import type { GitLocation } from '../../git/git.ts';

export type ParsedLocation = GitLocation | { readonly kind: 'refused'; readonly sentence: string };

const MAX_LENGTH = 2048;
const HOST = String.raw`(?:[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?|\[[0-9a-f:.]+\])`;
const USER = `(?:[a-z0-9_][a-z0-9_.+~-]*@)`;
const HTTPS = new RegExp(`^https://${USER}?${HOST}(?::\\d{1,5})?/\\S+$`, 'i');
const SSH = new RegExp(`^ssh://${USER}?${HOST}(?::\\d{1,5})?/\\S+$`, 'i');
const SCP = new RegExp(`^${USER}${HOST}:(?![:-])\\S+$`, 'i');

/**
 * Reads the `git` value of a repository. Only the forms listed here are accepted, because some git transports run
 * commands, and a leading dash would be read as an option.
 */
export function parseLocation(value: string | undefined): ParsedLocation {
  if (value === undefined || value === '') return refuse('A plain git repository needs a path or URL.');
  if (value.length > MAX_LENGTH) return refuse(`The path or URL is longer than ${MAX_LENGTH} characters.`);
  if (/\p{Cc}/u.test(value) || !value.isWellFormed()) return refuse('The path or URL holds a control character.');
  if (value.startsWith('-')) return refuse('The path or URL starts with a dash.');
  if (HTTPS.test(value) || SSH.test(value) || SCP.test(value)) return { kind: 'url', url: value };
  if (/^(https|ssh):\/\/[^/]*:[^/]*@/i.test(value)) {
    return refuse(
      "The URL holds a password. Credentials belong into the server's environment, such as a git credential helper.",
    );
  }
  if (/^file:/i.test(value)) return parseFileUrl(value);
  // Git reads a colon before the first slash as host:path.
  if (/^[^/]*:/.test(value)) return refuse('Only a path, file:///, ssh://, git@host:path and https:// are accepted.');
  return { kind: 'path', path: resolve(value) };
}

/** Git decodes `%20` in such a URL, so this does too. */
function parseFileUrl(value: string): ParsedLocation {
  const [, path] = /^file:\/\/(?:localhost)?(\/.*)$/i.exec(value) ?? [];
  const decoded = path === undefined ? undefined : decode(path);
  if (decoded === undefined || /\p{Cc}/u.test(decoded)) {
    return refuse('A file:// URL is file:// and an absolute path of the server, such as file:///srv/git/app.git.');
  }
  return { kind: 'path', path: resolve(decoded) };
}

function decode(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function refuse(sentence: string): ParsedLocation {
  return { kind: 'refused', sentence };
}
