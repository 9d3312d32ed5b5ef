import { after, before } from 'node:test';
import type { GiteaPeople } from '../gitea/any-gitea.ts';
import { landingContract } from './forge-landing.ts';
import { revertContract } from './forge-reverts.ts';
import { createGitea, createGiteaWorld } from './gitea-repository.ts';

let people: GiteaPeople;
before(async () => {
  people = await createGitea();
});
after(() => people.gitea.close());

landingContract('Gitea', () => createGiteaWorld(people), ['REBASE']);
revertContract('Gitea', () => createGiteaWorld(people), ['REBASE']);
