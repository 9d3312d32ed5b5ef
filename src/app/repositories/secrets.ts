import type { RunnerCheck } from '../../checks/check.ts';
import { isFreeVariable } from '../../checks/file-checks.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as contract from '../../contract/secrets.ts';
import type { ForgeRepository } from '../../forge/forge-repository.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findRepository, formatRef } from '../core/find-queue.ts';
import { type Answer, isRefusal, refuse, refuseField } from '../core/refusal.ts';

const MAX_SECRETS = 100;

const purposeOf = (id: string, name: string) => `secret ${id} ${name}`;

// SPEC R96
export async function setSecret(
  app: App,
  caller: Caller,
  { repo, name, value }: RequestOf<typeof contract.setSecret>,
): Answer<ReplyOf<typeof contract.setSecret>> {
  const repository = await findRepository(app, caller, repo);
  if (isRefusal(repository)) return repository;
  if (!isFreeVariable(name)) return refuseField('/name', 'is no name of a variable, or the name of one of the server');
  if (value.includes('\0')) return refuseField('/value', 'has a zero byte, which no variable can have');
  const { id } = repository;
  const known = await app.store.secrets.list(id);
  if (known.length >= MAX_SECRETS && !known.some((secret) => secret.name === name))
    return refuse('VALIDATION_FAILED', `${formatRef(repository)} has ${MAX_SECRETS} secrets already.`);
  const sealed = app.webhooks.box.seal(value, purposeOf(id, name));
  await app.store.secrets.set(id, { name, sealed, setBy: caller.name, setAt: app.clock.now() });
  app.log.info({ repository: formatRef(repository), secret: name, by: caller.name }, 'a secret was set');
  return {};
}

export async function listSecrets(
  app: App,
  caller: Caller,
  { repo }: RequestOf<typeof contract.listSecrets>,
): Answer<ReplyOf<typeof contract.listSecrets>> {
  const repository = await findRepository(app, caller, repo);
  if (isRefusal(repository)) return repository;
  const secrets = await app.store.secrets.list(repository.id);
  return { secrets: secrets.map(({ name, setBy, setAt }) => ({ name, setBy, setAt: formatInstant(setAt) })) };
}

export async function removeSecret(
  app: App,
  caller: Caller,
  { repo, name }: RequestOf<typeof contract.removeSecret>,
): Answer<ReplyOf<typeof contract.removeSecret>> {
  const repository = await findRepository(app, caller, repo);
  if (isRefusal(repository)) return repository;
  if (await app.store.secrets.remove(repository.id, name)) return {};
  return refuseField('/name', `names no secret of ${formatRef(repository)}`);
}

export interface GivenSecrets {
  readonly variables: Readonly<Record<string, string>>;
  /** Sentences on those that the check does not get. */
  readonly notes: readonly string[];
}

interface Asked {
  readonly repository: ForgeRepository;
  readonly check: RunnerCheck;
  /** The commit is the landed head: nobody who cannot push to the branch has written it. */
  readonly isLanded: boolean;
}

// SPEC R97
export async function giveSecrets(app: Pick<App, 'store' | 'webhooks'>, asked: Asked): Promise<GivenSecrets> {
  const { repository, check, isLanded } = asked;
  const { secrets: names = [] } = check;
  if (names.length === 0) return { variables: {}, notes: [] };
  if (!isLanded && repository.fileChecks?.secretsForPullRequests !== true)
    return { variables: {}, notes: [`Pull requests do not get secrets: ${names.join(', ')}.`] };
  const known = await app.store.secrets.list(repository.id as RepositoryId);
  const opened = names.map((name) => {
    const sealed = known.find((secret) => secret.name === name)?.sealed;
    return { name, sealed, value: sealed && app.webhooks.box.open(sealed, purposeOf(repository.id, name)) };
  });
  const variables = Object.fromEntries(opened.flatMap(({ name, value }) => (value ? [[name, value]] : [])));
  const notes = opened.flatMap(({ name, sealed, value }) => {
    if (value) return [];
    const problem = sealed === undefined ? 'is not set' : 'is encrypted with another key than that of this server';
    return [`The secret ${name} ${problem}: sluice secret set ${formatRef(repository)} ${name}`];
  });
  return { variables, notes };
}
