import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { commitContract } from './forge-commits.ts';
import { landingContract } from './forge-landing.ts';
import { revertContract } from './forge-reverts.ts';
import { createPlainWorld } from './plain-repository.ts';

for (const contract of [
  forgeContract,
  candidateContract,
  commitContract,
  landingContract,
  auditContract,
  revertContract,
]) {
  contract('plain git', () => createPlainWorld());
}
