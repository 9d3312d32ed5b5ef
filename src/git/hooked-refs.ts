import { join } from 'node:path';
import { Fault } from '../lib/fault.ts';
import type { HookNews } from '../lib/hooks.ts';
import { Semaphore } from '../lib/semaphore.ts';
import { findRef } from './for-each-ref.ts';
import type { RefAnswer, RefChange } from './git.ts';
import type { HookWatch } from './hooks.ts';
import { type Push, type PushCommand, receivePack } from './receive-pack.ts';
import { syncFiles } from './sync-files.ts';
import { holdRefs, type RefUpdater } from './update-ref.ts';

export interface HookedOptions {
  readonly source: string;
  readonly gitDir: string;
  readonly objectFormat: string;
  readonly hooks: HookWatch;
  readonly direct: RefUpdater;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  tell(news: HookNews): void;
  /** Keeps the server from stopping before background work has ended. */
  track<Answer>(work: Promise<Answer>): Promise<Answer>;
}

/** Hooks may run on after their push, such as a deploy. This bounds how many do. */
const AT_ONCE = 8;
const BRANCHES = 'refs/heads/';

/** Branches change by a push, so that hooks run. Other refs, or without hooks, directly: that is much faster. */
// SPEC L10
export function createHookedUpdater(options: HookedOptions): RefUpdater {
  const { direct, hooks, source, tell } = options;
  const pusher = createPusher(options);
  const change = async (changes: readonly RefChange[]): Promise<RefAnswer> => {
    const branches = changes.filter(isOfBranch);
    if (branches.length === 0) return direct.change(changes);
    const { names, problem } = await hooks.look();
    if (names.length > 0 && problem !== undefined) tell({ kind: 'off', source, problem });
    if (names.length === 0 || problem !== undefined) return direct.change(changes);
    const others = changes.filter((each) => each.kind !== 'verify' && !isOfBranch(each));
    const verified = changes.filter(({ kind }) => kind === 'verify');
    const first = others.length === 0 ? DONE : await direct.change(others);
    if (first.kind !== 'done') return first;
    for (const branch of branches) {
      const answer = await changeBranch(options, pusher, { branch, verified });
      if (answer.kind !== 'done') return answer;
    }
    return DONE;
  };
  return { change, retire: () => direct.retire() };
}

type BranchChange = Extract<RefChange, { kind: 'set' | 'delete' }>;
type Pusher = (command: PushCommand) => Promise<RefAnswer>;

const DONE: RefAnswer = { kind: 'done' };

// SPEC L31
function isOfBranch(change: RefChange): change is BranchChange {
  return change.kind !== 'verify' && change.ref.startsWith(BRANCHES);
}

interface Asked {
  readonly branch: BranchChange;
  readonly verified: readonly RefChange[];
}

async function changeBranch(options: HookedOptions, push: Pusher, { branch, verified }: Asked): Promise<RefAnswer> {
  const { gitDir, direct } = options;
  const { ref } = branch;
  if (branch.kind === 'set' && branch.expected !== undefined) {
    return moveGuarded(options, push, { branch: { ref, from: branch.expected, to: branch.sha }, verified });
  }
  const found = await findRef(gitDir, ref);
  const to = branch.kind === 'set' ? branch.sha : undefined;
  if (found?.sha === to && found?.isSymbolic !== true) return DONE;
  // A push would change the branch that the symbolic ref points to.
  if (found?.isSymbolic === true) return direct.change([branch]);
  const command = { ref, from: found?.sha, to };
  if (branch.kind === 'set') return push(command);
  // The queue deletes its own branches. Hooks run, but cannot refuse.
  const answer = await push(command).catch(forgiveHooks);
  return answer.kind === 'done' ? answer : direct.change([branch]);
}

// SPEC L15
function forgiveHooks(error: unknown): RefAnswer {
  if (error instanceof Fault && error.code === 'FORGE_UNAVAILABLE') return { kind: 'refused', detail: error.detail };
  throw error;
}

// SPEC L16
async function moveGuarded(
  { gitDir }: HookedOptions,
  push: Pusher,
  { branch, verified }: { readonly branch: PushCommand; readonly verified: readonly RefChange[] },
): Promise<RefAnswer> {
  const held = await holdRefs(gitDir, verified);
  if ('kind' in held) return held;
  const answer = await push(branch).finally(() => held.release());
  await syncFiles([join(gitDir, branch.ref)]);
  return answer;
}

/** Answers as soon as the ref has changed, and follows the later hooks in the background. */
function createPusher(options: HookedOptions): Pusher {
  const slots = new Semaphore(AT_ONCE);
  const { track } = options;
  return (command) =>
    new Promise((resolve, reject) => {
      const run = slots.run(async () => {
        const push = receivePack({ ...options, command });
        push.answer.then(resolve, reject);
        await seeToEnd(options, command.ref, push);
      });
      track(run).catch(reject);
    });
}

// SPEC L33
async function seeToEnd({ source, tell, signal }: HookedOptions, ref: string, { ended }: Push): Promise<void> {
  const { isStopped, isRefChanged, words } = await ended;
  if (signal.aborted || !isRefChanged) return;
  if (isStopped) tell({ kind: 'stopped', source, ref, words });
  else if (words !== '') tell({ kind: 'printed', source, ref, words });
}
