import { decodeMessage } from '../../git/commit.ts';
import type { StoredCommit } from '../../git/git.ts';
import type { CandidateEntry } from '../forge.ts';
import { printable } from './pull-request-ref.ts';
import { listTrailers, withTrailers } from './trailers.ts';

export interface EntryMessage {
  readonly entry: CandidateEntry;
  readonly head: StoredCommit;
  /** What the queue says about the commit. */
  readonly origin: readonly string[];
}

/** Title and body of the pull request, which on plain git are those of its head. Trailers of its author stay trailers. */
export function squashMessage({ entry, head, origin }: EntryMessage, others: readonly string[]): Buffer {
  const body = bodyOf(head);
  const subject = findOverride(entry, body) ?? `${titleOf(entry)} (#${entry.prNumber})`;
  const message = Buffer.from(body === '' ? `${subject}\n` : `${subject}\n\n${body}\n`);
  const named = listTrailers(message).flatMap((line) => /^co-authored-by: (.*)$/i.exec(line)?.[1] ?? []);
  return withTrailers(message, [...coAuthors([head.authorName, ...named], others), ...origin]);
}

export function mergeMessage({ entry, head, origin }: EntryMessage): Buffer {
  const subject = findOverride(entry, bodyOf(head)) ?? `Merge pull request #${entry.prNumber}`;
  return messageOf([subject, titleOf(entry)], origin);
}

export function messageOf(paragraphs: readonly string[], trailers: readonly string[]): Buffer {
  return Buffer.from(`${[...paragraphs, trailers.join('\n')].join('\n\n')}\n`);
}

/**
 * CI passes over a push whose last commit says so in one of these ways. Then nobody would ever report, and whoever is tested
 * together with it would wait in vain. Bytes that are no ASCII stay as they are, whatever their encoding.
 */
export function withoutSkips(message: Buffer): Buffer {
  const text = message.toString('latin1');
  const asked = text
    .replace(/\[(skip[ -](?:ci|actions)|(?:ci|actions)[ -]skip|no[ -]ci)\]/gi, '($1)')
    .replace(/^skip-checks:[ \t]*true/gim, 'skip-checks: no');
  return asked === text ? message : Buffer.from(asked, 'latin1');
}

/** What follows the first line, without the empty lines around it. */
function bodyOf(head: StoredCommit): string {
  const [, ...lines] = decodeMessage(head).trimStart().split('\n');
  return lines
    .join('\n')
    .replace(/^(?:[ \t\r]*\n)+/, '')
    .trimEnd();
}

/** Another title, on a line of its own. */
function findOverride({ mergeTitle }: CandidateEntry, body: string): string | undefined {
  const [, title = ''] = /^merge-commit-title:[ \t]*(\S.*)$/m.exec(body) ?? [];
  return printable(mergeTitle ?? title) || undefined;
}

function titleOf({ title, prNumber }: CandidateEntry): string {
  return printable(title) || `Pull request ${prNumber}`;
}

/** One line for each person who is not named yet, by address: people write their names in many ways. */
function coAuthors(named: readonly string[], others: readonly string[]): readonly string[] {
  const emailOf = (person: string) => person.slice(person.lastIndexOf('<')).trim().toLowerCase();
  const seen = new Set(named.map(emailOf));
  return others
    .filter((person) => !seen.has(emailOf(person)) && seen.add(emailOf(person)))
    .map((person) => `Co-authored-by: ${person}`);
}
