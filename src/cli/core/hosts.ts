import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { CliError, EXIT } from './exit.ts';
import { readSecretFile } from './secret-file.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The servers that `sluice login` keeps, by their addresses. */
export interface Hosts {
  /** The address of the last login; commands call it unless told otherwise. */
  readonly current: string | undefined;
  readonly tokens: Readonly<Record<string, string>>;
}

const NO_HOSTS: Hosts = { current: undefined, tokens: {} };

export function hostsFileOf(environment: Environment): string {
  const folder = environment['XDG_CONFIG_HOME'] || path.join(environment['HOME'] || homedir(), '.config');
  return path.join(folder, 'sluice', 'hosts.json');
}

// SPEC W25
export function readHosts(environment: Environment): Hosts {
  const file = hostsFileOf(environment);
  try {
    return parseHosts(readSecretFile(file), file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return NO_HOSTS;
    if (error instanceof CliError) throw error;
    throw new CliError(EXIT.unauthorized, `The file ${file} cannot be read (${code}).`);
  }
}

function parseHosts(text: string, file: string): Hosts {
  try {
    const { current, tokens } = JSON.parse(text) as Partial<Hosts>;
    if (typeof tokens !== 'object' || tokens === null) throw new SyntaxError();
    const known = Object.entries(tokens).filter(([, token]) => typeof token === 'string');
    return { current: typeof current === 'string' ? current : undefined, tokens: Object.fromEntries(known) };
  } catch {
    throw new CliError(EXIT.unauthorized, `The file ${file} is damaged. Delete it, then run \`sluice login\` again.`);
  }
}

/** Replaces the file as a whole. Only its owner can read it. */
export function writeHosts(environment: Environment, hosts: Hosts): void {
  const file = hostsFileOf(environment);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    rmSync(`${file}.new`, { force: true });
    writeFileSync(`${file}.new`, `${JSON.stringify(hosts, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new CliError(EXIT.refused, `The file ${file} cannot be written (${code}).`);
  }
}
