// `npm start`: installs what is missing, then serves in the foreground.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';

await ensureInstalled({ dev: false });
const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'serve');
await import(launcher.href);
