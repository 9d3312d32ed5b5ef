import { after, before } from 'node:test';
import type { FakeGithub } from '../fake/github/fake-github.ts';
import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { createGithub, createGithubWorld } from './github-repository.ts';

let fake: FakeGithub;
before(async () => {
  fake = await createGithub();
});
after(() => fake.close());

for (const contract of [forgeContract, auditContract]) contract('GitHub', () => createGithubWorld(fake));
candidateContract('GitHub', () => createGithubWorld(fake), ['SQUASH']);
