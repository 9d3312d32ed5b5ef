import { madeOnce } from '../helpers/made.ts';
import { landingContract } from './forge-landing.ts';
import { revertContract } from './forge-reverts.ts';
import { createGithub, createGithubWorld } from './github-repository.ts';

const fake = madeOnce(() => createGithub());

landingContract('GitHub', () => createGithubWorld(fake), ['SQUASH']);
revertContract('GitHub', () => createGithubWorld(fake), ['SQUASH']);
