import type { Brand } from './brand.ts';

/** The id of a git object, in full. */
export type Sha = Brand<string, 'Sha'>;
