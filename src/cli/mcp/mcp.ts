import { local } from '../core/command.ts';
import { createContext } from '../core/context.ts';
import { usageError } from '../core/exit.ts';
import { PLACE_OPTIONS } from '../core/place.ts';

export const MCP = local({
  text: 'Answer coding agents: a server of the Model Context Protocol on standard input and output. A client starts it; docs/mcp.md shows how.',
  takes: {
    ...PLACE_OPTIONS,
    '--allow-writes': 'Also offer tools that submit, cancel and restart pull requests and quarantine tests.',
  },
  examples: [
    'sluice mcp',
    'sluice mcp --allow-writes',
    'sluice mcp --repo local/acme/app --branch main --token-file ~/.config/sluice/agent-token',
  ],
  start: async (given, globals) => {
    if (globals.tokenFile === '-')
      throw usageError('--token-file - cannot be read: standard input speaks MCP. Name a file, or set SLUICE_TOKEN.');
    // Loaded late: the help needs none of it.
    const { serveMcp } = await import('./serve-mcp.ts');
    await serveMcp(createContext(globals), { ...globals, ...given });
  },
});
