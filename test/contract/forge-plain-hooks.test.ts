import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { landingContract } from './forge-landing.ts';
import { createHookedWorld } from './plain-repository.ts';

for (const contract of [candidateContract, landingContract])
  contract('plain git with hooks', () => createHookedWorld(), ['MERGE_COMMIT']);
auditContract('plain git with hooks', () => createHookedWorld());
