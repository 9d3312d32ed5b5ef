import { randomUUID } from 'node:crypto';
import type { Repository, RepositoryId, RepositoryRef, RunnerCheck } from '../storage/repositories.ts';
import { type App, PLAIN_GIT_HOST } from './app.ts';
import { type Caller, hasScope, maySee } from './caller.ts';
import { checkOwner } from './check-owner.ts';
import { getForge, toForgeRepository } from './find-queue.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type RepositoryView, viewRepository } from './views/repository-view.ts';

export interface RegisterRepository {
  readonly repo: RepositoryRef;
  /** These three: undefined leaves what is there as it is. */
  readonly git: string | undefined;
  readonly checks: readonly RunnerCheck[] | undefined;
  readonly junit: readonly string[] | undefined;
}

export async function registerRepository(
  app: App,
  caller: Caller,
  input: RegisterRepository,
): Promise<RepositoryView | Refusal> {
  const known = await app.directory.findRepository(caller.organization.id, input.repo);
  if (known !== undefined ? !maySee(caller, known) : caller.repositoryIds !== null) {
    return refuse('INSUFFICIENT_SCOPE', 'This token is limited to other repositories.');
  }
  const problem = checkRegistration(app, caller, input, known) ?? (await checkOwner(app, caller, input.repo));
  if (problem !== undefined) return problem;
  const at = app.clock.now();
  const repository: Repository = {
    id: known?.id ?? (randomUUID() as RepositoryId),
    organizationId: caller.organization.id,
    ...input.repo,
    git: input.git ?? known?.git ?? null,
    checks: input.checks ?? known?.checks ?? [],
    junit: input.junit ?? known?.junit ?? [],
    createdAt: known?.createdAt ?? at,
    updatedAt: at,
  };
  const trouble = await getForge(app, repository.host).checkAccess(toForgeRepository(repository));
  if (trouble !== undefined) return noAccess(repository, trouble);
  const stored = await app.store.repositories.save(repository);
  app.directory.forget();
  return viewRepository(stored);
}

/** On plain git it is about the path; elsewhere about the repository itself. */
function noAccess({ host }: Repository, trouble: string): Refusal {
  const path = host === PLAIN_GIT_HOST ? '/git' : '/repo';
  return refuse('VALIDATION_FAILED', trouble, [{ path, message: trouble }]);
}

function checkRegistration(
  app: App,
  caller: Caller,
  input: RegisterRepository,
  known: Repository | undefined,
): Refusal | undefined {
  const isPlain = input.repo.host === PLAIN_GIT_HOST;
  if (!app.forges.has(input.repo.host)) {
    return invalid(
      '/repo/host',
      `is no host that this server is connected to (${hostsOf(app)}). "sluice github setup" connects a GitHub; plain git repositories have the host "${PLAIN_GIT_HOST}"`,
    );
  }
  if (!isPlain && (input.git !== undefined || input.checks !== undefined)) {
    return invalid(
      input.git !== undefined ? '/git' : '/checks',
      `is for repositories of the host "${PLAIN_GIT_HOST}" only`,
    );
  }
  if (isPlain && input.git === undefined && known === undefined) {
    return invalid('/git', 'must name the path or URL of the bare repository');
  }
  const twin = input.checks?.findIndex(({ name }, index, all) => all.findIndex((other) => other.name === name) < index);
  // Each result would be taken for the other's.
  if (twin !== undefined && twin >= 0) return invalid(`/checks/${twin}/name`, 'is the name of another check');
  // The server reads the path, and runs the commands, with its own rights.
  if ((input.git !== undefined || input.checks !== undefined) && !hasScope(caller, 'instance')) {
    return refuse('INSUFFICIENT_SCOPE', 'A plain git path and runner commands need a token with the scope "instance".');
  }
  return undefined;
}

function hostsOf({ forges }: App): string {
  const hosts = [...forges.keys()].filter((host) => host !== PLAIN_GIT_HOST);
  return hosts.length === 0 ? 'to none yet' : `it is to ${hosts.join(', ')}`;
}

function invalid(path: string, message: string): Refusal {
  return refuse('VALIDATION_FAILED', `${path.slice(1).replaceAll('/', '.')} ${message}.`, [{ path, message }]);
}
