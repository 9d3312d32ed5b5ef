import { fileURLToPath } from 'node:url';

export const SLUICE_BIN = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

/**
 * The arguments with which Node runs the command `sluice`. Most of a start is loading modules, and finding the real path
 * of each takes a fifth of it.
 */
export const SLUICE: readonly string[] = ['--preserve-symlinks', '--preserve-symlinks-main', SLUICE_BIN];
