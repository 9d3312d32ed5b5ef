// `npm start`: installs what is missing, bundles the dashboard, then serves in the foreground.
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureWeb, isWebBuilt } from './lib/build-web.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { projectRoot } from './lib/node24.mjs';

await ensureInstalled({ dev: false, bundling: !isWebBuilt() });
await ensureWeb();

// npm puts folders of this project on the PATH, which the server would pass on to checks.
const isOfNpm = (folder) =>
  folder.endsWith('node-gyp-bin') ||
  (folder.endsWith('/node_modules/.bin') && projectRoot.startsWith(dirname(dirname(folder))));
const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => !isOfNpm(folder));
process.env.PATH = path.join(delimiter);

const launcher = new URL('../bin/sluice.mjs', import.meta.url);
process.argv.splice(1, 1, fileURLToPath(launcher), 'serve');
await import(launcher.href);
