// Bundles the dashboard (src/web) for browsers, when its sources changed since the last time.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { projectRoot } from './node24.mjs';

const sources = join(projectRoot, 'src', 'web');
const entries = ['main.tsx', 'core/stream-worker.ts'].map((file) => join(sources, file));

const BUILT = join(projectRoot, '.cache', 'web');

/** Whether the bundle is there, of the sources as they are: then no package is needed to make it. */
export function isWebBuilt(folder = BUILT) {
  const manifest = join(folder, 'manifest.json');
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).key === keyOf();
}

/**
 * Returns the folder that the server reads: files whose names change with their content, and a manifest of them and of
 * the packages in them.
 */
export async function ensureWeb(folder = BUILT) {
  if (isWebBuilt(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const made = `${folder}.${process.pid}`;
  await buildWeb(made, keyOf());
  rmSync(folder, { recursive: true, force: true });
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another process was faster.
    rmSync(made, { recursive: true, force: true });
    if (!isWebBuilt(folder)) throw error;
  }
  return folder;
}

/** The sources, and the versions of the packages that become part of the bundle. */
function keyOf() {
  const digest = createHash('sha256');
  const files = readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.name.endsWith('.test.ts'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  for (const file of [...files, join(projectRoot, 'package-lock.json'), import.meta.filename]) {
    digest.update(file.slice(projectRoot.length)).update(readFileSync(file));
  }
  return digest.digest('hex');
}

async function buildWeb(folder, key) {
  const { build, stop } = await import('esbuild');
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: projectRoot,
    entryPoints: entries,
    outdir: folder,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'error',
  });
  // Its process would stay beside the server that begins now.
  await stop();
  mkdirSync(folder, { recursive: true });
  const files = Object.keys(metafile.outputs).map((file) => basename(file));
  const of = (start, end) => files.find((file) => file.startsWith(start) && file.endsWith(end));
  for (const file of files)
    writeFileSync(join(folder, `${file}.gz`), gzipSync(readFileSync(join(folder, file)), { level: 9 }));
  const page = readFileSync(join(sources, 'page.html'), 'utf8')
    .replace('{{style}}', `/assets/${of('main-', '.css')}`)
    .replace('{{script}}', `/assets/${of('main-', '.js')}`)
    .replace('{{worker}}', `/assets/${of('stream-worker-', '.js')}`);
  writeFileSync(
    join(folder, 'manifest.json'),
    JSON.stringify({ key, html: page, files, packages: packagesOf(metafile) }),
  );
}

/** The paths in node_modules of the packages that a bundle is made of. */
export function packagesOf({ inputs }) {
  const paths = Object.keys(inputs).map((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]);
  return [...new Set(paths.filter((path) => path !== undefined))].sort();
}
