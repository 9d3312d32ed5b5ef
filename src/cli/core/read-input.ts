import { readFileSync } from 'node:fs';
import { usageError } from './exit.ts';

/** The text of a file, or of standard input for `-`, and what to call it in a message. */
export function readInput(file: string): { readonly name: string; readonly text: string } {
  const name = file === '-' ? 'Standard input' : `The file ${file}`;
  try {
    return { name, text: readFileSync(file === '-' ? 0 : file, 'utf8') };
  } catch (error) {
    throw usageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
