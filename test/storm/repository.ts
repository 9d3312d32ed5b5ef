import { createPlainWorld, type PlainWorld } from '../contract/plain-repository.ts';
import type { Plan, PlannedChange } from './plan.ts';
import { type Files, firstFiles } from './project.ts';

/** The bare repository that the authors push to. */
export interface StormRepository {
  readonly world: PlainWorld;
  /** The first commit of every target branch. */
  readonly start: string;
  open(change: PlannedChange): Promise<void>;
  /** Pushes one more commit. */
  push(change: PlannedChange, files: Files): Promise<void>;
  /** Squashes it onto the present head of the target branch, which resolves a conflict. */
  rebase(change: PlannedChange): Promise<void>;
  close(change: PlannedChange): Promise<void>;
}

export async function createStormRepository(plan: Plan): Promise<StormRepository> {
  const world = await createPlainWorld();
  const start = await world.commit('main', { files: firstFiles(plan.clashes), message: 'Begin' });
  for (const { branch } of plan.lines) await world.git(['update-ref', `refs/heads/${branch}`, start]);
  const add = (change: PlannedChange, from: string, files: Files) =>
    world.commitTo(refOf(change), from, {
      files,
      message: `Change ${change.number}\n\nBy ${change.author.name}.\n`,
      author: change.author.name,
      email: change.author.email,
    });
  const headOf = ({ line }: PlannedChange) => world.git(['rev-parse', `refs/heads/${line.branch}`]);
  return {
    world,
    start,
    open: async (change) => {
      let head = change.isFresh ? await headOf(change) : start;
      for (const files of change.commits) head = await add(change, head, files);
    },
    push: async (change, files) => {
      await add(change, await world.git(['rev-parse', refOf(change)]), files);
    },
    rebase: async (change) => {
      await add(change, await headOf(change), Object.assign({}, ...change.commits));
    },
    close: (change) => world.closePullRequest(change.number as never),
  };
}

function refOf({ number }: PlannedChange): string {
  return `refs/pull/${number}/head`;
}
