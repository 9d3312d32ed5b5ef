import { decodeMessage } from '../../git/commit.ts';
import type { StoredCommit } from '../../git/git.ts';
import type { CandidateEntry } from '../forge.ts';
import { printable } from './pull-request-ref.ts';
import { listTrailers, withTrailers } from './trailers.ts';

export interface EntryMessage {
  readonly entry: CandidateEntry;
  readonly head: StoredCommit;
  /** The trailers that name the candidate and the pull request. */
  readonly origin: readonly string[];
}

/** On plain git the title and body are its head's message. The author's own trailers stay trailers. */
// SPEC C42
export function squashMessage({ entry, head, origin }: EntryMessage, others: readonly string[]): Buffer {
  const body = bodyOf(head);
  const subject = findOverride(entry, body) ?? `${titleOf(entry)} (#${entry.prNumber})`;
  const message = Buffer.from(body === '' ? `${subject}\n` : `${subject}\n\n${body}\n`);
  const named = listTrailers(message).flatMap((line) => /^co-authored-by: (.*)$/i.exec(line)?.[1] ?? []);
  return withTrailers(message, [...coAuthors([head.authorName, ...named], others), ...origin]);
}

// SPEC C17
export function mergeMessage({ entry, head, origin }: EntryMessage): Buffer {
  const subject = findOverride(entry, bodyOf(head)) ?? `Merge pull request #${entry.prNumber}`;
  return messageOf([subject, titleOf(entry)], origin);
}

export function messageOf(paragraphs: readonly string[], trailers: readonly string[]): Buffer {
  return Buffer.from(`${[...paragraphs, trailers.join('\n')].join('\n\n')}\n`);
}

/** CI skips a push whose last commit has such a mark. Only ASCII is changed, since the encoding may be anything. */
// SPEC C20
export function withoutSkips(message: Buffer): Buffer {
  const text = message.toString('latin1');
  const asked = text
    .replace(/\[(skip[ -](?:ci|actions)|(?:ci|actions)[ -]skip|no[ -]ci)\]/gi, '($1)')
    .replace(/^skip-checks:[ \t]*true/gim, 'skip-checks: no');
  return asked === text ? message : Buffer.from(asked, 'latin1');
}

function bodyOf(head: StoredCommit): string {
  const [, ...lines] = decodeMessage(head).trimStart().split('\n');
  return lines
    .join('\n')
    .replace(/^(?:[ \t\r]*\n)+/, '')
    .trimEnd();
}

// SPEC C18
function findOverride({ mergeTitle }: CandidateEntry, body: string): string | undefined {
  const [, title = ''] = /^merge-commit-title:[ \t]*(\S.*)$/m.exec(body) ?? [];
  return printable(mergeTitle ?? title) || undefined;
}

function titleOf({ title, prNumber }: CandidateEntry): string {
  return printable(title) || `Pull request ${prNumber}`;
}

/** One line per person who is not named yet. People are compared by address, since one writes several names. */
function coAuthors(named: readonly string[], others: readonly string[]): readonly string[] {
  const emailOf = (person: string) => person.slice(person.lastIndexOf('<')).trim().toLowerCase();
  const seen = new Set(named.map(emailOf));
  return others
    .filter((person) => !seen.has(emailOf(person)) && seen.add(emailOf(person)))
    .map((person) => `Co-authored-by: ${person}`);
}
