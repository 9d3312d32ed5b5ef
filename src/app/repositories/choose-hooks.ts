import type { Forge, Hooks } from '../../forge/forge.ts';
import type { Repository } from '../../storage/repositories.ts';
import { describeRepository } from '../core/find-queue.ts';
import { type Refusal, refuseField } from '../core/refusal.ts';

interface Choice {
  readonly runHooks: boolean;
  readonly notes: readonly string[];
}

interface Wish {
  readonly asked: boolean | undefined;
  /** The repository as registered before. */
  readonly known: Repository | undefined;
}

/** By default hooks run where that is safe. An earlier choice stays while the path is the same. */
// SPEC L17
export async function chooseHooks(
  forge: Forge,
  repository: Repository,
  { asked, known }: Wish,
): Promise<Choice | Refusal> {
  const hooks = await forge.findHooks?.(describeRepository(repository));
  if (hooks === undefined) return asked === undefined ? { runHooks: false, notes: [] } : elsewhere();
  if (asked === true && hooks.problem !== undefined) return unsafe(hooks.problem);
  const before = known?.git === repository.git ? known?.runHooks : undefined;
  const runHooks = asked ?? before ?? hooks.problem === undefined;
  return { runHooks, notes: notesOf(hooks, { runHooks, isChosen: asked !== undefined || before === false }) };
}

function notesOf(hooks: Hooks, { runHooks, isChosen }: { runHooks: boolean; isChosen: boolean }): readonly string[] {
  const { names, notExecutable, problem } = hooks;
  if (problem !== undefined && (runHooks || !isChosen)) {
    const next = runHooks ? 'They run again when that is mended.' : 'Mend that, and register it with runHooks.';
    return [`Hooks of the repository do not run: ${problem}. ${next}`];
  }
  if (!runHooks) return names.length === 0 ? [] : [`Hooks of the repository do not run: ${names.join(', ')}.`];
  return notExecutable.map((name) => `The ${name} hook is not executable, so that git does not run it.`);
}

function elsewhere(): Refusal {
  return refuseField(
    '/runHooks',
    'is for repositories that are registered by a path. Hooks of one with a URL run at the remote',
  );
}

function unsafe(problem: string): Refusal {
  return refuseField(
    '/runHooks',
    `cannot be set: ${problem}. Whoever can write a hook, or what names one, runs commands as the server`,
  );
}
