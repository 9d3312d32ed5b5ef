import { createHash } from 'node:crypto';
import type { ForgeRepository } from './forge.ts';

/** A tree that passed other commands under the same names has not passed these. Empty where there are none. */
export function digestCommands(checks: ForgeRepository['checks']): string {
  if (checks.length === 0) return '';
  const commands = checks
    .map(({ name, command, network }) => [name, command, ...(network ? ['network'] : [])])
    .toSorted();
  return createHash('sha256').update(JSON.stringify(commands)).digest('hex');
}
