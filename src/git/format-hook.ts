import { stripVTControlCharacters } from 'node:util';
import { withoutCredentials } from './complaint.ts';

/** These lines repeat the sentence around them. */
const OF_GIT = /^(?:error|fatal): (?:hook declined to update|.*aborted by (?:the reference-transaction )?hook)/;
const MAX_LINES = 5;
const MAX_LENGTH = 500;

/** The last lines that hooks printed, as one line without control characters and without paths of the server. */
// SPEC L32
export function lastWordsOf(output: string, gitDir: string): string {
  const lines = stripVTControlCharacters(output)
    .replaceAll(gitDir, 'the repository')
    .split(/[\r\n]+/)
    .map((line) =>
      withoutCredentials(line)
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim(),
    )
    .filter((line) => line !== '' && !OF_GIT.test(line));
  return lines.slice(-MAX_LINES).join(' ').slice(-MAX_LENGTH).toWellFormed().trim();
}
