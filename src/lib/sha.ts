import type { Brand } from './brand.ts';

/** The full id of a git object. */
export type Sha = Brand<string, 'Sha'>;
