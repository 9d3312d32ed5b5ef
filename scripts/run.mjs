// `node scripts/run.mjs file.ts [arguments]`: installs what is missing, then runs the file under Node 24.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ensureInstalled } from './lib/install.mjs';
import { findNode24, isNewEnough } from './lib/node24.mjs';
import { exitCodeOf, runChild } from './lib/run-child.mjs';

const [file, ...args] = process.argv.slice(2);
if (file === undefined) {
  process.stderr.write('usage: node scripts/run.mjs <file.ts> [arguments]\n');
  process.exit(2);
}
await ensureInstalled({ dev: true });
if (isNewEnough(process.versions.node)) {
  process.argv.splice(1, 2, resolve(file));
  await import(pathToFileURL(resolve(file)).href);
} else {
  process.exit(exitCodeOf(await runChild(findNode24(), [file, ...args])));
}
