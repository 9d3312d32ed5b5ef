import { after, before } from 'node:test';
import type { GiteaPeople } from '../gitea/any-gitea.ts';
import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { createGitea, createGiteaWorld } from './gitea-repository.ts';

let people: GiteaPeople;
before(async () => {
  people = await createGitea();
});
after(() => people.gitea.close());

for (const contract of [forgeContract, auditContract]) contract('Gitea', () => createGiteaWorld(people));
candidateContract('Gitea', () => createGiteaWorld(people), ['REBASE']);
