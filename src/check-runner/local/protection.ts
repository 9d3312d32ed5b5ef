import type { ProtectionKind } from '../runner.ts';
import type { UserPool } from './user-pool.ts';
import type { JobFolder } from './work-folder.ts';

/** Keeps commands away from the server's files and processes, and from each other's. */
export interface Protection {
  readonly kind: ProtectionKind;
  /** One user per running command, when the server is root. */
  readonly users: UserPool | undefined;
  /** Whether a command may find what is at this path. */
  canRead(path: string): boolean;
  /** The path at which a command sees its work tree. */
  treeOf(folder: JobFolder): string;
  wrap(request: WrapRequest): Promise<Wrapped>;
}

export interface WrapRequest {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly folder: JobFolder;
  /** Part of the environment of all the command's processes. */
  readonly mark: string;
  readonly network: boolean;
  readonly userNamespaces: boolean;
}

export interface Wrapped {
  readonly argv: readonly [program: string, ...arguments: string[]];
  readonly variables: Readonly<Record<string, string>>;
  /** Printed right before the command starts. Output without it comes from the sandbox, not from the command. */
  readonly token: string | undefined;
}

/** Path of the work tree in sandboxes with a root of their own. */
export const TREE = '/check/tree';

/** Sets the process limit, the umask and the mark, prints the token, and runs the command. */
const BEGIN = `
{ ulimit -u "$1" || ulimit -p "$1"; } 2>/dev/null
[ -z "$2" ] || umask "$2"
printf %s "$3"
export SLUICE_JOB="$4"
shift 4
exec /bin/sh -c "$@"`;

export interface Begin extends Pick<WrapRequest, 'args' | 'command' | 'mark'> {
  readonly token: string;
  readonly processes: number;
  /** True when the users of other checks may write to this check's files. */
  readonly sharesFiles: boolean;
}

// SPEC R21, R28
export function beginCommand(begin: Begin): readonly [string, ...string[]] {
  const { processes, sharesFiles, token, mark } = begin;
  const facts = [String(processes), sharesFiles ? '002' : '', token, mark];
  return ['/bin/sh', '-c', BEGIN, 'sh', ...facts, ...shellWords(begin)];
}

/** The words behind `sh -c`. */
export function shellWords({ command, args = [] }: Pick<WrapRequest, 'args' | 'command'>): readonly string[] {
  return [command, '/bin/sh', ...args];
}

export function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
