import { stackContract } from './forge-stacks.ts';
import { createGiteaWorld } from './gitea-repository.ts';

stackContract('Gitea', () => createGiteaWorld());
