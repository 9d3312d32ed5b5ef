// `npm run demo`: installs what is missing, then shows a queue at work.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';

await ensureInstalled({ dev: false });
const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'demo');
await import(launcher.href);
