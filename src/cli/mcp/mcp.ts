import type { Command } from 'commander';
import { addExamples } from '../core/arguments.ts';
import { createContext } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { addPlaceOptions } from '../core/place.ts';
import type { McpOptions } from './serve-mcp.ts';

export function defineMcp(mcp: Command): void {
  addPlaceOptions(
    mcp.description(
      'Answer coding agents: a server of the Model Context Protocol on standard input and output. A client starts it; docs/mcp.md shows how.',
    ),
  )
    .option('--allow-writes', 'Also offer tools that submit, cancel and restart pull requests and quarantine tests.')
    .action(async (_options: McpOptions, command: Command) => {
      const options = command.optsWithGlobals<McpOptions>();
      if (options.tokenFile === '-')
        throw usageError('--token-file - cannot be read: standard input speaks MCP. Name a file, or set SLUICE_TOKEN.');
      // Loaded late: the help needs none of it.
      const { serveMcp } = await import('./serve-mcp.ts');
      await serveMcp(createContext(options), options);
    });
  addExamples(mcp, [
    'sluice mcp',
    'sluice mcp --allow-writes',
    'sluice mcp --repo local/acme/app --branch main --token-file ~/.config/sluice/agent-token',
  ]);
}
