import type { RemoteAccess } from './environment.ts';
import { gitFault, runGit } from './exec.ts';
import type { RefAnswer, RefChange, RemoteLocation } from './git.ts';
import { runOnRemote } from './remote.ts';

const PURPOSE = 'push to the remote';
const TIMEOUT_MS = 5 * 60_000;

/** Overrides the operator's push settings, which are meant for interactive use. */
const PLAINLY = [
  '--porcelain',
  '--quiet',
  '--no-verify',
  '--no-signed',
  '--no-follow-tags',
  '--no-force-if-includes',
  '--recurse-submodules=no',
];

export interface PushOptions {
  readonly gitDir: string;
  readonly remote: RemoteLocation;
  readonly changes: readonly RefChange[];
  readonly signal: AbortSignal;
}

/** A remote changes refs one by one: no transport can verify a ref without changing it. */
export async function pushRefs({ gitDir, remote, changes, signal }: PushOptions): Promise<RefAnswer> {
  const leases = changes.flatMap((change) =>
    change.kind === 'set' && change.expected !== undefined
      ? [`--force-with-lease=${change.ref}:${change.expected}`]
      : [],
  );
  const refspecs = changes.flatMap(encode);
  if (refspecs.length === 0) return { kind: 'done' };
  const { pushBy: keyed } = remote;
  const args = ['push', ...PLAINLY, ...leases, '--end-of-options', keyed?.url ?? remote.url, ...refspecs];
  const options = { purpose: PURPOSE, gitDir, timeoutMs: TIMEOUT_MS, signal, expected: [0, 1, 128] };
  const run =
    keyed === undefined
      ? await runOnRemote(remote, args, options)
      : { ...(await runGit(args, { ...options, remote: true, keyed })), access: undefined };
  const { exitCode, stdout, stderr, access } = run;
  return exitCode === 0 ? { kind: 'done' } : answerOf(stdout.toString(), stderr, access);
}

/** Rejected refs are printed as `! from:to [by] (reason)`. Without such a line the outcome of the push is unknown. */
export function answerOf(output: string, stderr: string, access?: RemoteAccess): RefAnswer {
  const rejection = output.split('\n').find((line) => line.startsWith('!\t'));
  const [, , summary = ''] = rejection?.split('\t') ?? [];
  const faultOf = (reason: string) => gitFault({ purpose: PURPOSE, access }, reason);
  if (rejection === undefined || summary.startsWith('[remote failure]')) throw faultOf(stderr);
  const isOccupied = /exists; cannot create/.test(stderr);
  // Another push was faster, or another process holds the lock. Only reading the ref again tells which.
  const isRace = /^\[rejected\]|failed to update ref|incorrect old value|\block\b|already exists/.test(summary);
  if (isRace && !isOccupied) return { kind: 'stale' };
  return { kind: 'refused', detail: faultOf([summary, ...complaintsOf(stderr)].join(': ')).detail };
}

/** GitHub and GitLab name the violated rule in a line of its own. */
function complaintsOf(stderr: string): readonly string[] {
  return [...stderr.matchAll(/^remote: (?:error: )?(GH\d+: .*|GitLab: .*|- .*)$/gm)].map(([, sentence = '']) =>
    sentence.trim(),
  );
}

function encode(change: RefChange): readonly string[] {
  switch (change.kind) {
    case 'set':
      return [`${change.expected === undefined ? '+' : ''}${change.sha}:${change.ref}`];
    case 'delete':
      return [`:${change.ref}`];
    case 'verify':
      return [];
  }
}
