import type { ProtectionKind } from '../runner.ts';
import type { UserPool } from './user-pool.ts';
import type { JobFolder } from './work-folder.ts';

/** Keeps commands from the server's files and processes, and from each other's. */
export interface Protection {
  readonly kind: ProtectionKind;
  /** One for each running command, where the server is root. */
  readonly users: UserPool | undefined;
  /** The path at which a command sees its work tree. */
  treeOf(folder: JobFolder): string;
  /** Turns a command into what is spawned in its place. */
  wrap(request: WrapRequest): Promise<Wrapped>;
}

export interface WrapRequest {
  readonly command: string;
  readonly folder: JobFolder;
  /** In the environment of everything that the command starts. */
  readonly mark: string;
  readonly network: boolean;
}

export interface Wrapped {
  readonly argv: readonly [program: string, ...arguments: string[]];
  readonly variables: Readonly<Record<string, string>>;
  /** Printed right before the command begins: output without it is a problem of the sandbox, not of the command. */
  readonly token: string | undefined;
}

/** Where sandboxes with a root of their own show the work tree. */
export const TREE = '/check/tree';

/** The command begins: its limit of processes, its umask, the token, its mark, the command itself. */
const BEGIN = `
{ ulimit -u "$1" || ulimit -p "$1"; } 2>/dev/null
[ -z "$2" ] || umask "$2"
printf %s "$3"
export SLUICE_JOB="$4"
exec /bin/sh -c "$5"`;

export interface Begin extends Pick<WrapRequest, 'command' | 'mark'> {
  readonly token: string;
  readonly processes: number;
  /** Whether the users of other checks may write to files that this one makes. */
  readonly sharesFiles: boolean;
}

export function beginCommand(begin: Begin): readonly [string, ...string[]] {
  const { processes, sharesFiles, token, mark, command } = begin;
  return ['/bin/sh', '-c', BEGIN, 'sh', String(processes), sharesFiles ? '002' : '', token, mark, command];
}

/** Of a shell: one word, whatever is in it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
