import { setTimeout as delay } from 'node:timers/promises';
import { selectedNothing } from '../../checks/selects/select-tests.ts';
import { backoffMs } from '../../lib/backoff.ts';
import { parseDuration } from '../core/arguments.ts';
import { type Given, row } from '../core/command.ts';
import type { Context } from '../core/context.ts';
import { type CliError, EXIT } from '../core/exit.ts';
import type { BodyOf } from '../core/operations.ts';
import { clean, say } from '../core/terminal.ts';
import { type CommandTree, startCommand } from './command-tree.ts';
import { formatEndReason, type GivenRun, nameRun, RUN_TAKES, type RunInfo } from './find-run.ts';
import { askSelection, splitWords } from './select.ts';

/** As sysexits says "temporary failure": the pull request is tested again, or has left. */
const NOT_WANTED = 75;
/** A server that is away is asked less and less often. */
const LONGEST_PAUSE_MS = 300_000;
const TIMEOUT_MS = 10_000;

const TAKES = {
  '<command...>':
    'The command and its arguments, behind --. No shell reads them. Before -- may stand what runs its tests: pytest, vitest, jest, go or node.',
  ...RUN_TAKES,
  '--check <name>': 'The required check that these are the tests of. With a framework: others run nothing in a probe.',
  '--grace <time>': ['How long processes may clean up after SIGTERM, before SIGKILL. Default: 10s.', parseDuration],
  '--interval <time>': ['The longest time between two questions to the server. Default: 20s.', parseDuration],
} as const;

const EXIT_TEXT = `Exit codes:
  N    that of the command; 128 + the signal that ended it
  75   the queue needs no result any more, and the command was ended
  126  the command cannot be run; 127: there is none
  2    wrong usage
In a probe, the framework's code for "no test was found" becomes 0.
A server that cannot be asked neither ends nor fails the command.`;

export const exec = row({
  text:
    'Run a command of a CI job, and end it with all its processes when the queue needs no result of the job any more: ' +
    'its pull request left, or is tested in another run. With the framework of its tests, a probe runs only those that failed.',
  takes: TAKES,
  more: EXIT_TEXT,
  examples: [
    'sluice ci exec -- npm test',
    'sluice ci exec --grace 30s -- make -j4 check',
    'sluice ci exec pytest --check unit -- pytest -q',
    'sluice ci exec vitest --check unit -- npm test --',
  ],
  run: runCommand,
});

// SPEC W72
async function runCommand(context: Context, given: Given<typeof TAKES>): Promise<void> {
  const { 'command...': words, grace = 10_000, interval = 20_000, check, ...named } = given;
  const { framework, command } = splitWords(words);
  const selection = framework && (await askSelection(context, named, { framework, check }));
  if (selection === 'none') return say(`sluice: This run asks nothing of ${check}: the command does not run.`);
  const tree = startCommand([...command, ...(selection?.args ?? [])], say);
  const release = passSignals(tree, grace);
  const over = new AbortController();
  let ended: Promise<void> | undefined;
  const watched = untilUseless(context, named, { intervalMs: interval, signal: over.signal }).then((run) => {
    if (run === undefined) return;
    const why = clean(formatEndReason(run));
    say(`sluice: The queue for ${clean(run.targetBranch)} needs no result of this run any more (${why}).`);
    ended = tree.end(grace);
  });
  const code = await tree.exit;
  over.abort();
  await watched;
  await ended;
  release();
  if (selection !== undefined && ended === undefined && selectedNothing(selection, code))
    return say('sluice: None of these tests is there, which is no failure.');
  process.exitCode = ended === undefined ? code : NOT_WANTED;
}

/** CI sends SIGTERM or SIGHUP to end a job; SIGINT may be a question, so that nothing is killed after it. */
// SPEC W73
function passSignals(tree: CommandTree, graceMs: number): () => void {
  const pass = (signal: NodeJS.Signals) =>
    void (signal === 'SIGINT' ? tree.signal(signal) : tree.end(graceMs, signal)).catch(() => undefined);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, pass);
  return () => {
    for (const signal of signals) process.off(signal, pass);
  };
}

/** Undefined when nothing can be known, or when the command ended first. */
// SPEC W74
async function untilUseless(
  context: Context,
  named: GivenRun,
  { intervalMs, signal }: { readonly intervalMs: number; readonly signal: AbortSignal },
): Promise<RunInfo | undefined> {
  const wait = { firstMs: intervalMs, capMs: Math.max(intervalMs, LONGEST_PAUSE_MS) };
  let run: BodyOf<'getTestRunInfo'> | undefined;
  let isTold = false;
  for (let failures = 0; !signal.aborted; ) {
    let atLeastMs = 0;
    try {
      run ??= await nameRun(context, named);
      const info = await context.client.call('getTestRunInfo', run, { retries: 0, timeoutMs: TIMEOUT_MS, signal });
      // Something else may answer there.
      if (info?.isWanted === false) return info;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return undefined;
      const { exitCode, status, retryAfter = 0, message } = error as Partial<CliError>;
      if (!isTold) say(`sluice: ${clean(message?.split('\n')[0] ?? '')} The command goes on.`);
      if (exitCode !== EXIT.unavailable && status !== 429) return undefined;
      isTold = true;
      failures += 1;
      atLeastMs = retryAfter * 1000;
    }
    const pauseMs = Math.max(atLeastMs, backoffMs(failures, { ...wait, spread: Math.random() }));
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
