import { createContext } from '../../src/cli/core/context.ts';
import { paint } from '../../src/cli/core/terminal.ts';
import type { DemoFolder } from './demo-folder.ts';
import type { DemoServer } from './demo-server.ts';

/** A place for the story: plain git, or the fake GitHub. */
export interface Stage {
  /** Runs before the server starts. */
  prepare(folder: DemoFolder): Promise<void>;
  /** Plays until every pull request has landed or left, and returns the surprises as sentences. */
  play(scene: Scene): Promise<readonly string[]>;
}

export interface Scene {
  readonly folder: DemoFolder;
  readonly server: DemoServer;
  /** Server and files stay afterwards, for a closer look. */
  readonly isKept: boolean;
  readonly signal: AbortSignal;
}

/** A link that signs in to the dashboard. */
export async function makeLink({ server }: Scene): Promise<string> {
  const context = createContext({ url: server.url, tokenFile: server.tokenFile });
  return (await context.call('createSignInLink', {})).url;
}

export function formatSurprises(surprises: readonly string[]): string {
  const lines = surprises.map((surprise) => `- ${surprise}`);
  return `${paint('red', 'Not everything went as it should:')}\n${lines.join('\n')}\n`;
}
