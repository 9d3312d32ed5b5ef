import { fileURLToPath } from 'node:url';

/** From the sources. */
export const SLUICE_SOURCE = fileURLToPath(new URL('../../bin/sluice.mjs', import.meta.url));

/** `npm test` starts bundles, which load faster. */
export const SLUICE_BIN = process.env['SLUICE_TEST_BIN'] ?? SLUICE_SOURCE;

/**
 * The arguments with which Node runs the command `sluice`. Most of a start is loading modules, and finding the real path
 * of each takes a fifth of it.
 */
export const SLUICE: readonly string[] = ['--preserve-symlinks', '--preserve-symlinks-main', SLUICE_BIN];
