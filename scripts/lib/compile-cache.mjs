import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from './node24.mjs';

/** Between runs: a start takes a third of the time. The folder of an installation may belong to somebody else. */
export function keepCompiledCode() {
  // Node 20 has no such cache.
  if (module.enableCompileCache === undefined) return;
  const { status } = module.enableCompileCache(join(projectRoot, '.cache', 'compile'));
  if (status !== module.constants.compileCacheStatus.FAILED) return;
  const folder = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  // Node works without the cache if that folder cannot be written either.
  module.enableCompileCache(join(folder, 'sluice', 'compile'));
}
