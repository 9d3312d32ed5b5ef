import { join } from 'node:path';
import { ROOT } from '../helpers/doc-pages.ts';

/** Installed test frameworks. */
export const CACHE = join(ROOT, '.cache/selects');
