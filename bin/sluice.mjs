#!/usr/bin/env node
// The command `sluice`. Plain JavaScript that any Node from 20 on can start; it goes on in Node 24.
import { fileURLToPath } from 'node:url';
import { keepCompiledCode } from '../scripts/lib/compile-cache.mjs';
import { findNode24, isNewEnough, projectRoot } from '../scripts/lib/node24.mjs';

const args = process.argv.slice(2);

if (isNewEnough(process.versions.node)) {
  keepCompiledCode();
  process.exitCode = await runHere();
} else {
  const node = findNode24();
  process.exitCode = node === undefined ? explainMissing() : await runUnder(node);
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
    isNewEnough(process.versions.node)
      ? `sluice: its packages are not installed. Run \`npm install\` in ${projectRoot}, then try again.\n`
      : `sluice: it needs Node 24 or newer, and this is Node ${process.versions.node}. npm brings Node 24 along: ` +
          `install Sluice again with \`npm install\` and without --omit=optional, or install Node 24.\n`,
  );
  return 1;
}
