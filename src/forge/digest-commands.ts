import { createHash } from 'node:crypto';
import type { ForgeRepository } from './forge.ts';

/** Part of the key of a passed tree: it has to pass again when the commands change. Empty without commands. */
export function digestCommands(checks: ForgeRepository['checks']): string {
  if (checks.length === 0) return '';
  const commands = checks
    .map(({ name, command, network, userNamespaces, prepare, env }) => [
      ...[name, command, ...(network ? ['network'] : []), ...(userNamespaces ? ['userNamespaces'] : [])],
      ...(prepare === undefined && env === undefined ? [] : [JSON.stringify({ prepare, env })]),
    ])
    .toSorted();
  return createHash('sha256').update(JSON.stringify(commands)).digest('hex');
}
