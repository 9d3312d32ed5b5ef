/** Shells, make, env, Node and Go name a program that they did not find. */
const MISSING = [
  /^\S*sh: (?:(?:line )?\d+: )?([\w.+-]+): (?:command )?not found$/gm,
  /^(?:make(?:\[\d+\])?|\S*\benv): [^\w./]{0,3}([\w.+-]+)[^\w./]{0,3}: (?:command not found|No such file or directory)$/gim,
  /\bspawn ([\w.+-]+) ENOENT/g,
  /exec: "([\w.+-]+)": executable file not found/g,
];
const OFFLINE =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|could not resolve|name resolution|network is unreachable|no such host|name or service not known/i;
const CLOSED =
  /^.*(?:EROFS|read-only file system|EACCES: permission denied, (?:mkdir|open|rename)|PermissionError: \[Errno 13\]|cannot .*: permission denied|(?:open|mkdir) \S+: permission denied).*$/im;
const PATH = /(?<![\w.])\/[\w@+.-][\w@+./-]*\b/;
/** Longer than a line that tells something. */
const LONGEST_LINE = 500;

/** Reads the output of a command for what its failure may come from. */
// SPEC R50, R65
export class OutputSigns {
  isOffline = false;
  /** The program that was not found last. */
  missing: string | undefined;
  /** A path that could not be written, or an empty text for an unknown one. */
  closed: string | undefined;
  #rest = '';

  read(bytes: Buffer): void {
    const read = this.#rest + bytes.toString('latin1');
    const end = read.lastIndexOf('\n') + 1;
    const text = read.slice(0, end);
    this.#rest = read.slice(end).slice(-LONGEST_LINE);
    if (text === '') return;
    this.isOffline ||= OFFLINE.test(text);
    for (const pattern of MISSING) for (const [, program] of text.matchAll(pattern)) this.missing = program;
    const [line] = CLOSED.exec(text) ?? [];
    if (line !== undefined) this.closed ||= PATH.exec(line)?.[0] ?? '';
  }
}
