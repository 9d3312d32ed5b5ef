// `npm run demo`: installs what is missing, then shows a queue at work. With --github, on a GitHub of this machine.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';

// The fake GitHub is a test helper and needs the development packages.
await ensureInstalled({ dev: process.argv.includes('--github') });
const { ensureWeb } = await import('./lib/build-web.mjs');
await ensureWeb();
const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'demo');
await import(launcher.href);
