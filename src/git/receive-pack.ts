import { hash } from 'node:crypto';
import { stripVTControlCharacters } from 'node:util';
import { Fault } from '../lib/fault.ts';
import { withoutCredentials } from './complaint.ts';
import { callAfter, endOnAbort, exitOf, gitFault, keepTail, startGit, stoppingFault, throwIfStopping } from './exec.ts';
import type { RefAnswer } from './git.ts';
import { cutLifeline } from './lifeline.ts';
import { answerOfComplaint } from './update-ref.ts';

const PURPOSE = 'push to the repository';

interface PushOptions {
  readonly gitDir: string;
  readonly objectFormat: string;
  readonly command: PushCommand;
  /** Time limit of hooks before the ref change, and again after it. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

export interface PushCommand {
  readonly ref: string;
  /** Undefined: the ref must not exist yet. */
  readonly from: string | undefined;
  /** Undefined: the ref is deleted. */
  readonly to: string | undefined;
}

export interface Push {
  /** Settles as soon as git reports the ref change. Hooks may still run. Rejects when the outcome is unknown. */
  readonly answer: Promise<RefAnswer>;
  /** Resolves when everything has ended, including hooks. Never rejects. */
  readonly ended: Promise<PushEnd>;
}

interface PushEnd {
  /** Hooks ran too long, and their process group was ended. */
  readonly isStopped: boolean;
  readonly isRefChanged: boolean;
  /** The last lines that hooks printed. */
  readonly words: string;
}

/** A hook that guards a branch can recognize the queue by this variable. */
const MARK = { SLUICE_PUSH: '1' };
/** Another queue's push may hold a lock. Garbage collection is left to other pushes. */
const SETTINGS = ['core.filesRefLockTimeout=10000', 'core.packedRefsTimeout=10000', 'receive.autogc=false'];

/**
 * The receiving half of `git push`: hooks run, settings apply, and the ref changes from exactly `from`. The objects are
 * in the repository already, so the pack is empty. The list of refs is not read first, as in a push over HTTP.
 */
// SPEC L13
export function receivePack(options: PushOptions): Push {
  const { gitDir, signal, limitMs } = options;
  throwIfStopping(signal);
  const settings = [...SETTINGS, `safe.directory=${gitDir}`].flatMap((setting) => ['-c', setting]);
  const child = startGit([...settings, 'receive-pack', '--stateless-rpc', gitDir], {
    hooks: true,
    extra: MARK,
    signal,
    lifeline: 'beside',
  });
  const words = keepTail(child);
  const state = { isStopped: false, report: '' };
  const stop = () => {
    state.isStopped = true;
    cutLifeline(child);
  };
  let stopTimer = callAfter(limitMs, stop);
  const stopListening = endOnAbort(child, signal);
  const reported = new Promise<void>((resolve) => {
    child.stdout.setEncoding('latin1').on('data', (chunk: string) => {
      state.report = (state.report + chunk).slice(0, MAX_REPORT);
      if (!state.report.endsWith(FLUSH)) return;
      stopTimer();
      stopTimer = callAfter(limitMs, stop);
      resolve();
    });
  });
  // The watcher would keep the pipe open, and the close event would never come.
  child.once('exit', () => cutLifeline(child));
  const exit = exitOf(child).finally(() => {
    stopTimer();
    stopListening();
  });
  child.stdin.end(requestOf(options));
  const answer = Promise.race([reported, exit]).then(async () => {
    if (isDone(state.report)) return { kind: 'done' } as const;
    // No hook runs after a refusal, so the remaining output arrives now.
    await exit;
    if (signal.aborted) throw stoppingFault();
    if (state.isStopped) throw tooLong(limitMs, lastWordsOf(words(), gitDir));
    return answerOf(state.report, words(), gitDir);
  });
  const end = () => ({ ...state, isRefChanged: isDone(state.report), words: lastWordsOf(words(), gitDir) });
  return { answer, ended: exit.then(end, end) };
}

/** Far more than the report about one ref. */
const MAX_REPORT = 16 * 1024;
const FLUSH = '0000';

function requestOf({ objectFormat, command: { ref, from, to } }: PushOptions): Buffer {
  const isSha256 = objectFormat === 'sha256';
  const none = '0'.repeat(isSha256 ? 64 : 40);
  const line = `${from ?? none} ${to ?? none} ${ref}\0 report-status object-format=${objectFormat}`;
  const commands = Buffer.from(line);
  const length = (commands.length + FLUSH.length).toString(16).padStart(4, '0');
  const pack = to === undefined ? [] : [EMPTY_PACK, hash(isSha256 ? 'sha256' : 'sha1', EMPTY_PACK, 'buffer')];
  return Buffer.concat([Buffer.from(length), commands, Buffer.from(FLUSH), ...pack]);
}

/** A pack of version 2 without objects. */
const EMPTY_PACK = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');

function isDone(report: string): boolean {
  return /^....unpack ok\n....ok /.test(report);
}

/** The report is `unpack REASON` when nothing was processed, else `ng REF REASON`. It is empty when git died. */
// SPEC L12
function answerOf(report: string, stderr: string, gitDir: string): RefAnswer {
  const [, reason = ''] = /^....unpack ok\n....ng \S+ (.*)\n/.exec(report) ?? [];
  const hook = HOOKS.find(([pattern]) => pattern.test(reason) || pattern.test(stderr))?.[1];
  if (hook !== undefined) {
    const words = lastWordsOf(stderr, gitDir);
    const sentence = words === '' ? 'It gave no reason.' : `It says: ${words}`;
    return { kind: 'refused', detail: `The ${hook} hook of the repository refused it. ${sentence}` };
  }
  if (/^missing necessary objects|^bad pack|^unpacker error/.test(reason))
    throw gitFault({ purpose: PURPOSE, gitDir }, stderr);
  if (/^failed to|^atomic|^reference|^incorrect old value/.test(reason)) return answerOfComplaint(gitDir, stderr);
  return { kind: 'refused', detail: `Git refused it: ${lastWordsOf(reason, gitDir)}.` };
}

const HOOKS: readonly (readonly [RegExp, string])[] = [
  [/^pre-receive hook declined/, 'pre-receive'],
  [/^hook declined/, 'update'],
  [/^(?:fatal|error): .*(?:aborted by|reference-transaction).*hook/m, 'reference-transaction'],
];

function tooLong(limitMs: number, words: string): Fault {
  const printed = words === '' ? 'They printed nothing.' : `They printed last: ${words}`;
  return new Fault(
    'FORGE_UNAVAILABLE',
    `The hooks of the repository did not end within ${Math.ceil(limitMs / 1_000)} s and were stopped. ${printed}`,
  );
}

/** These lines repeat the sentence around them. */
const OF_GIT = /^(?:error|fatal): (?:hook declined to update|.*aborted by (?:the reference-transaction )?hook)/;
const MAX_LINES = 5;
const MAX_LENGTH = 500;

// SPEC L32
function lastWordsOf(output: string, gitDir: string): string {
  const lines = stripVTControlCharacters(output)
    .replaceAll(gitDir, 'the repository')
    .split(/[\r\n]+/)
    .map((line) =>
      withoutCredentials(line)
        .replace(/[\p{C}\s]+/gu, ' ')
        .trim(),
    )
    .filter((line) => line !== '' && !OF_GIT.test(line));
  return lines.slice(-MAX_LINES).join(' ').slice(-MAX_LENGTH).toWellFormed().trim();
}
