import type { EntryRecord } from '../../contract/entry.ts';
import { Fault } from '../../lib/fault.ts';
import { createContext } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import { terminalWidth, write } from '../core/terminal.ts';
import { watchQueue } from '../watch/watch-queue.ts';
import { type DemoFolder, makeDemoFolder } from './demo-folder.ts';
import { type DemoServer, startDemoServer } from './demo-server.ts';
import { listenForInterruption } from './interruption.ts';
import { makeRepository } from './make-repository.ts';
import { play, QUEUE, setUp, submitFirst } from './play.ts';
import { formatLessons, formatOutcomes } from './summary.ts';
import { findSurprises } from './verdict.ts';
import { formatBeginning, formatHowToGoOn, formatSurprises, formatWhereItIs } from './words.ts';

export interface DemoOptions {
  readonly folder?: string;
  readonly keep?: true;
}

/** 128 and the number of SIGINT, as shells have it. */
const INTERRUPTED = 130;

/** Answers the exit code. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const folder = await makeDemoFolder(options.folder);
  const interruption = listenForInterruption();
  let exitCode: number | undefined;
  try {
    exitCode = await runIn(folder, options, interruption.signal);
    return exitCode;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    exitCode = INTERRUPTED;
    write('\nStopped. Nothing of it is left running.');
    return exitCode;
  } finally {
    await leave(folder, options, exitCode);
    interruption.stopListening();
  }
}

async function runIn(folder: DemoFolder, options: DemoOptions, signal: AbortSignal): Promise<number> {
  write(formatBeginning(folder));
  await makeRepository(folder.repository).catch(refuse);
  const server = await startDemoServer(folder, signal);
  let isKept = false;
  try {
    const records = await show(folder, server, signal);
    const surprises = findSurprises(records);
    write(formatEnd(records, surprises, { folder, server, options }));
    isKept = options.keep === true;
    return surprises.length === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (signal.aborted || !(await server.hasEndedNow())) throw error;
    throw new CliError(EXIT.unavailable, 'The server of the demo ended before the demo did.');
  } finally {
    if (isKept) await server.leaveRunning();
    else await server.stop();
  }
}

/** What is wrong with git, or with the folder, is no bug of ours. */
function refuse(error: unknown): never {
  throw error instanceof Fault ? new CliError(EXIT.unavailable, error.detail) : error;
}

/** Everything between the start of the server and the last landing. */
async function show(folder: DemoFolder, server: DemoServer, signal: AbortSignal): Promise<readonly EntryRecord[]> {
  const context = createContext({ url: server.url, tokenFile: server.tokenFile });
  await setUp(context, folder);
  await submitFirst(context, write, signal);
  write('');
  const closing = new AbortController();
  const view = watchQueue(context, { ...QUEUE, signal: closing.signal });
  // Whoever finishes it hears of it; before that, the story itself fails for the same reason.
  view.ended.catch(() => undefined);
  try {
    const records = await play(context, view.tell, signal);
    await view.finish();
    signal.throwIfAborted();
    write('');
    return records;
  } finally {
    closing.abort();
  }
}

interface End {
  readonly folder: DemoFolder;
  readonly server: DemoServer;
  readonly options: DemoOptions;
}

function formatEnd(records: readonly EntryRecord[], surprises: readonly string[], end: End): string {
  const { folder, server, options } = end;
  // Commands that show what is about to be removed would only lead astray.
  const isLeft = options.keep === true || !folder.isTemporary || surprises.length > 0;
  return [
    formatOutcomes(records, terminalWidth()),
    ...(isLeft ? [formatHowToGoOn(folder, options.keep ? server : undefined)] : []),
    surprises.length > 0 ? formatSurprises(surprises) : formatLessons(records, isLeft ? folder.repository : undefined),
  ].join('\n');
}

/** What nobody asked for is removed, unless there may be something to find in it. */
async function leave(folder: DemoFolder, { keep }: DemoOptions, exitCode: number | undefined): Promise<void> {
  const isExpected = exitCode === EXIT.ok || exitCode === INTERRUPTED;
  const isRemoved = folder.isTemporary && isExpected && (keep !== true || exitCode === INTERRUPTED);
  if (isRemoved) await folder.remove();
  write(formatWhereItIs(folder, { isRemoved, isExpected }));
}
