import { CliError, EXIT } from '../../src/cli/core/exit.ts';
import { write } from '../../src/cli/core/terminal.ts';
import { Fault } from '../../src/lib/fault.ts';
import { SLUICE } from '../../src/lib/sluice-command.ts';
import { type DemoFolder, makeDemoFolder } from './demo-folder.ts';
import { startDemoServer } from './demo-server.ts';
import { plainStage } from './plain/stage.ts';
import type { Stage } from './scene.ts';

export interface DemoOptions {
  readonly folder?: string;
  readonly keep?: true;
  readonly github?: true;
  readonly gitea?: true;
}

/** 128 plus the number of SIGINT, the shell convention. */
const INTERRUPTED = 130;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns the exit code. */
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
  const stage = await loadStage(options);
  await stage.prepare(folder).catch(refuse);
  const server = await startDemoServer(folder, signal);
  try {
    const surprises = await stage.play({ folder, server, isKept: options.keep === true, signal });
    return surprises.length === 0 ? EXIT.ok : EXIT.refused;
  } catch (error) {
    if (signal.aborted || !(await server.hasEndedNow())) throw error;
    throw new CliError(EXIT.unavailable, 'The server of the demo ended before the demo did.');
  } finally {
    await server.stop();
  }
}

/** Loaded lazily: forges need the packages of the tests. */
async function loadStage({ github, gitea }: DemoOptions): Promise<Stage> {
  if (github) return (await import('./github/stage.ts').catch(refuseOutsideClone)).githubStage;
  return gitea ? (await import('./gitea/stage.ts').catch(refuseOutsideClone)).giteaStage : plainStage;
}

/** An installed package has no tests. */
function refuseOutsideClone(error: Error & { readonly code?: string }): never {
  const isLeftOut = error.code === 'ERR_MODULE_NOT_FOUND' && /Cannot find module .*stage\.ts/.test(error.message);
  if (!isLeftOut) throw error;
  throw new CliError(EXIT.usage, 'Only a clone of Sluice has the forges of the demo. Here, run `sluice demo`.');
}

function isOnForge({ github, gitea }: DemoOptions): boolean {
  return github === true || gitea === true;
}

/** A fault of git, or of the folder, is no bug of the command. */
function refuse(error: unknown): never {
  throw error instanceof Fault ? new CliError(EXIT.unavailable, error.detail) : error;
}

/** Ctrl-C, a closed terminal, or a closed output pipe. */
function listenForInterruption() {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const name of SIGNALS) process.on(name, abort);
  process.stdout.on('error', abort);
  return {
    signal: controller.signal,
    stopListening: () => {
      for (const name of SIGNALS) process.off(name, abort);
      process.stdout.off('error', abort);
    },
  };
}

/** Removes a temporary folder, unless it may explain a failure. */
async function leave(folder: DemoFolder, options: DemoOptions, exitCode: number | undefined): Promise<void> {
  const { path, log } = folder;
  if (exitCode !== EXIT.ok && exitCode !== INTERRUPTED) {
    write(`Everything is kept in ${path}; what the server said is in ${log}`);
    return;
  }
  // A forge ends with this process, so there is nothing left to inspect.
  const goesOn = options.keep && !isOnForge(options) && exitCode === EXIT.ok;
  if (!folder.isTemporary || goesOn) {
    write(`Everything is in ${path}`);
    return;
  }
  await folder.remove();
  const command = `${SLUICE} demo --keep${options.github ? ' --github' : ''}${options.gitea ? ' --gitea' : ''}`;
  write(`${path} is removed. To keep it, and to be told how to see all this for yourself: ${command}`);
}
