import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { landingContract } from './forge-landing.ts';
import { createRemoteWorld } from './plain-repository.ts';

for (const contract of [candidateContract, landingContract, auditContract])
  contract('plain git over ssh', createRemoteWorld);
