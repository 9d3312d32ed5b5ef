import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { commitContract } from './forge-commits.ts';
import { createPlainWorld } from './plain-repository.ts';

for (const contract of [forgeContract, candidateContract, commitContract, auditContract]) {
  contract('plain git with sha256', () => createPlainWorld(['--object-format=sha256']));
}
