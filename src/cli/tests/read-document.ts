import { readFileSync } from 'node:fs';
import { usageError } from '../core/exit.ts';

/** An object from a file of JSON, or of YAML, of which JSON is a part. */
export async function readDocument(file: string): Promise<Readonly<Record<string, unknown>>> {
  const name = file === '-' ? 'Standard input' : `The file ${file}`;
  const text = readText(file, name);
  const { parse } = await import('yaml');
  let value: unknown;
  try {
    // Aliases repeat what they name; a few lines of them could fill the memory.
    value = parse(text, { maxAliasCount: 100 });
  } catch (error) {
    throw usageError(`${name} is neither JSON nor YAML: ${(error as Error).message.split('\n')[0]}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`${name} must hold one object.`);
  return value as Readonly<Record<string, unknown>>;
}

function readText(file: string, name: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw usageError(`${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
