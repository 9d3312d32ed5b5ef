import { parseConfig } from '../../src/config/config.ts';
import { createLog, start } from '../../src/main.ts';
import { serveParent } from './child.ts';

/** The real server with its real log. */
const { environment } = JSON.parse(process.argv[2] as string) as { environment: Record<string, string> };
const parsed = parseConfig(environment);
if ('problems' in parsed) throw new Error(parsed.problems.join(' '));
const running = await start(parsed.config, createLog(parsed.config).log);
serveParent(running.url, () => running.stop());
