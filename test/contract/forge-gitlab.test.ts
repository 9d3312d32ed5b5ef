import { after, before } from 'node:test';
import { createFakeGitlab, type FakeGitlab } from '../fake/gitlab/fake-gitlab.ts';
import { forgeContract } from './forge.ts';
import { auditContract } from './forge-audit.ts';
import { candidateContract } from './forge-candidates.ts';
import { landingContract } from './forge-landing.ts';
import { createGitlabWorld } from './gitlab-repository.ts';

let gitlab: FakeGitlab;
before(async () => {
  gitlab = await createFakeGitlab();
});
after(() => gitlab.close());

for (const contract of [forgeContract, auditContract]) contract('GitLab', () => createGitlabWorld(gitlab));
candidateContract('GitLab', () => createGitlabWorld(gitlab), ['REBASE']);
landingContract('GitLab', () => createGitlabWorld(gitlab), ['REBASE']);
