import { stackContract } from './forge-stacks.ts';
import { createGithubWorld } from './github-repository.ts';

stackContract('GitHub', () => createGithubWorld());
