#!/usr/bin/env node
// The command `sluice`. Plain JavaScript that any Node from 20 on can start; it goes on in Node 24.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode24, isNewEnough, projectRoot } from '../scripts/lib/node24.mjs';

const args = process.argv.slice(2);

if (isNewEnough(process.versions.node)) {
  keepCompiledCode();
  process.exitCode = await runHere();
} else {
  const node = findNode24();
  process.exitCode = node === undefined ? explainMissing() : await runUnder(node);
}

/** Between runs: a start takes a third of the time. The folder of an installation may belong to somebody else. */
function keepCompiledCode() {
  const { status } = module.enableCompileCache(join(projectRoot, '.cache', 'compile'));
  if (status !== module.constants.compileCacheStatus.FAILED) return;
  const folder = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  // Node works without the cache if that folder cannot be written either.
  module.enableCompileCache(join(folder, 'sluice', 'compile'));
}

async function runHere() {
  try {
    const { main } = await import('../src/cli/main.ts');
    return await main(args);
  } catch (error) {
    if (error?.code === 'ERR_MODULE_NOT_FOUND' && /Cannot find package/.test(error.message)) return explainMissing();
    throw error;
  }
}

async function runUnder(node) {
  const { exitCodeOf, runChild } = await import('../scripts/lib/run-child.mjs');
  return exitCodeOf(await runChild(node, [fileURLToPath(import.meta.url), ...args]));
}

function explainMissing() {
  process.stderr.write(
    `sluice: its packages are not installed. Run \`npm install\` in ${projectRoot}, then try again.\n` +
      (isNewEnough(process.versions.node)
        ? ''
        : `sluice: it needs Node 24 or newer; this is Node ${process.versions.node}, and npm brings Node 24 along.\n`),
  );
  return 1;
}
