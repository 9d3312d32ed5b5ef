#!/usr/bin/env node
// The command `sluice` of the package of the command line alone. It is bundled; any Node from 20 on runs the bundle.
import { keepCompiledCode } from '../scripts/lib/compile-cache.mjs';

keepCompiledCode();
const { main } = await import('../src/cli/main.ts');
process.exitCode = await main(process.argv.slice(2));
