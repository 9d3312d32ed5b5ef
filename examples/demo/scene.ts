import { paint } from '../../src/cli/core/terminal.ts';
import type { DemoFolder } from './demo-folder.ts';
import type { DemoServer } from './demo-server.ts';

/** A place where the story is played: plain git, or a GitHub of this machine. */
export interface Stage {
  /** Before the server starts. */
  prepare(folder: DemoFolder): Promise<void>;
  /** Plays until every pull request has landed or left, and answers what did not go as told, as sentences. */
  play(scene: Scene): Promise<readonly string[]>;
}

export interface Scene {
  readonly folder: DemoFolder;
  readonly server: DemoServer;
  /** Everything goes on afterwards, for a closer look. */
  readonly isKept: boolean;
  readonly signal: AbortSignal;
}

export function formatSurprises(surprises: readonly string[]): string {
  const lines = surprises.map((surprise) => `- ${surprise}`);
  return `${paint('red', 'Not everything went as it should:')}\n${lines.join('\n')}\n`;
}

/** What one types for `sluice`: with npx or npm run there may be no other. */
export function sluiceCommand(environment: NodeJS.ProcessEnv = process.env): string {
  return environment['npm_command'] === undefined ? 'sluice' : 'npx sluice';
}
