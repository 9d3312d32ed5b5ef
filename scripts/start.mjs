// `npm start`: installs what is missing, bundles the dashboard, then serves in the foreground.
import { fileURLToPath } from 'node:url';
import { ensureWeb, isWebBuilt } from './lib/build-web.mjs';
import { ensureInstalled } from './lib/install.mjs';

await ensureInstalled({ dev: false, bundling: !isWebBuilt() });
await ensureWeb();
const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'serve');
await import(launcher.href);
