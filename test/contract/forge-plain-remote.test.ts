import { auditContract } from './forge-audit.ts';
import { landingContract } from './forge-landing.ts';
import { createRemoteWorld } from './plain-repository.ts';

// Candidates are built in a copy. Those of other forges are pushed to a remote too.
for (const contract of [landingContract, auditContract]) contract('plain git over ssh', createRemoteWorld);
