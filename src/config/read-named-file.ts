import { readFile } from 'node:fs/promises';
import { Fault } from '../lib/fault.ts';
import type { VariableName } from './variables.ts';

export function readNamedFile(variable: VariableName, file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Fault('MISCONFIGURED', `${variable} ${file} cannot be read (${error.code}).`);
  });
}
