import { forgeContract } from './forge.ts';
import { createPlainWorld } from './plain-world.ts';

forgeContract('plain git', () => createPlainWorld());
forgeContract('plain git with sha256', () => createPlainWorld(['--object-format=sha256']));
