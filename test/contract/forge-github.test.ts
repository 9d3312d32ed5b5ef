import { madeOnce } from '../helpers/made.ts';
import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { createGithub, createGithubWorld } from './github-repository.ts';

const fake = madeOnce(() => createGithub());

for (const contract of [forgeContract, auditContract]) contract('GitHub', () => createGithubWorld(fake));
candidateContract('GitHub', () => createGithubWorld(fake), ['SQUASH']);
