import { auditContract } from './forge-audit.ts';
import { landingContract } from './forge-landing.ts';
import { revertContract } from './forge-reverts.ts';
import { createRemoteWorld } from './plain-repository.ts';

// Candidates are built in a copy. Those of other forges are pushed to a remote too.
landingContract('plain git over ssh', createRemoteWorld, ['REBASE']);
auditContract('plain git over ssh', createRemoteWorld);
revertContract('plain git over ssh', createRemoteWorld, ['SQUASH']);
