import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { shellWord } from '../../lib/text.ts';
import { CliError, EXIT } from './exit.ts';

/** The text of a file that holds a secret. A file that others can read is refused; pipes are not files. */
// SPEC W24
export function readSecretFile(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    const stats = fstatSync(descriptor);
    const isOpen = stats.isFile() && (stats.mode & 0o044) !== 0;
    if (isOpen && process.platform !== 'win32') {
      throw new CliError(
        EXIT.unauthorized,
        `Others on this machine can read ${file}, and with it the token. Run this, then try again: chmod 600 ${shellWord(file)}`,
      );
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}
