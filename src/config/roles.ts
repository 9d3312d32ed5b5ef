import { Fault } from '../lib/fault.ts';
import { nearest } from '../lib/nearest.ts';
import { type Grant, isRole, ROLES } from '../lib/role.ts';
import { checkSlug } from '../lib/text.ts';
import { readNamedFile } from './read-named-file.ts';

const EXAMPLE = 'A line is such as: maintainer acme/github.com/acme/* group:release managers';

// SPEC A53
export async function loadRoles(file: string): Promise<readonly Grant[]> {
  const { lines, problems } = parseRoles(await readNamedFile('SLUICE_ROLES_FILE', file));
  const [problem] = problems;
  if (problem !== undefined) {
    const more = problems.length === 1 ? '' : ` Lines that are wrong besides: ${problems.length - 1}.`;
    throw new Fault('MISCONFIGURED', `SLUICE_ROLES_FILE ${file}, ${problem} ${EXAMPLE}${more}`);
  }
  if (lines.length > 0) return lines;
  throw new Fault('MISCONFIGURED', `SLUICE_ROLES_FILE ${file} has no line, so that nobody could sign in. ${EXAMPLE}`);
}

/** `role place who`, where `who` may have blanks. Empty lines and those that begin with # count as absent. */
export function parseRoles(text: string): {
  readonly lines: readonly Grant[];
  readonly problems: readonly string[];
} {
  const lines: Grant[] = [];
  const problems: string[] = [];
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const parsed = parseLine(line);
    if (typeof parsed === 'string') problems.push(`line ${index + 1}: ${parsed}`);
    else lines.push(parsed);
  }
  return { lines, problems };
}

function parseLine(line: string): Grant | string {
  const [, role = '', placeText = '', whoText = ''] = /^(\S+)(?:\s+(\S+))?(?:\s+(.*))?$/.exec(line) ?? [];
  if (!isRole(role)) {
    const meant = nearest(role, ROLES);
    const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
    return `there is no role "${role}". Roles are ${ROLES.join(', ')}.${hint}`;
  }
  const place = parsePlace(placeText);
  if (typeof place === 'string') return place;
  const who = parseWho(whoText);
  return typeof who === 'string' ? who : { who, ...place, role };
}

function parsePlace(text: string): Pick<Grant, 'organization' | 'place' | 'isExact'> | string {
  const [organization = '', ...rest] = text.split('/');
  const isExact = rest.at(-1) !== '*';
  const parts = isExact ? rest : rest.slice(0, -1);
  const isPlace = parts.every((part) => /^[A-Za-z0-9_.:-]{1,255}$/.test(part)) && (!isExact || parts.length >= 3);
  if (checkSlug(organization) !== undefined || !isPlace) {
    return `"${text}" is no place. Places are org/*, org/host/*, org/host/owner/* and org/host/owner/name.`;
  }
  return { organization, place: parts.join('/'), isExact };
}

function parseWho(text: string): Grant['who'] | string {
  if (text === 'everyone') return { kind: 'everyone', name: '' };
  const [, kind, name = ''] = /^(group|user):(.*)$/.exec(text) ?? [];
  if ((kind === 'group' || kind === 'user') && name.trim() !== '') return { kind, name: name.trim() };
  return text === ''
    ? 'nobody is named. It ends with group:NAME, user:SUBJECT or everyone.'
    : `"${text}" is nobody. Write group:NAME, user:SUBJECT or everyone.`;
}
