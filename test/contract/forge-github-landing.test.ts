import { after, before } from 'node:test';
import type { FakeGithub } from '../fake/github/fake-github.ts';
import { landingContract } from './forge-landing.ts';
import { createGithub, createGithubWorld } from './github-repository.ts';

let fake: FakeGithub;
before(async () => {
  fake = await createGithub();
});
after(() => fake.close());

landingContract('GitHub', () => createGithubWorld(fake), ['SQUASH']);
