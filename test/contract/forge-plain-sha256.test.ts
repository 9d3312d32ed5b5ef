import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { createPlainWorld } from './plain-repository.ts';

for (const contract of [forgeContract, candidateContract, auditContract]) {
  contract('plain git with sha256', () => createPlainWorld(['--object-format=sha256']));
}
