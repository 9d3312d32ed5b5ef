// Bundles the command `sluice` into a few files, which load in a third of the time of the sources.
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ensureWeb } from './build-web.mjs';
import { projectRoot } from './node24.mjs';

/** Packages in CommonJS call it. */
const banner =
  'import { createRequire as createRequireOfBuild } from "node:module"; const require = createRequireOfBuild(import.meta.url);';

/**
 * Writes `bin/sluice.mjs` and what it loads into `folder`. The bundles are two folders deep, as the sources are: their
 * paths to package.json and to bin/ stay true. The demo is not part of it.
 *
 * @param {string} folder
 */
export async function buildSluice(folder) {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: projectRoot,
    entryPoints: ['bin/sluice.mjs', 'src/ingest-main.ts', 'src/simulator-main.ts'],
    outdir: join(folder, 'lib', 'sluice'),
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: ['*/examples/demo/run-demo.ts', 'pg-native'],
    banner: { js: banner },
    logLevel: 'error',
  });
  await ensureWeb(join(folder, 'lib', '.cache', 'web'));
  copyFileSync(join(projectRoot, 'package.json'), join(folder, 'package.json'));
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', 'sluice.mjs'), "#!/usr/bin/env node\nimport '../lib/sluice/sluice.mjs';\n");
}
