import { randomUUID } from 'node:crypto';
import type { RunnerCheck } from '../../checks/check.ts';
import { checksOfText } from '../../checks/file-checks.ts';
import { takesArguments } from '../../checks/selects/select-tests.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as repositoriesContract from '../../contract/repositories.ts';
import type { HoldCause } from '../../engine/model/queue.ts';
import { digestCommands } from '../../forge/digest-commands.ts';
import type { Forge } from '../../forge/forge.ts';
import type { RepositoryIdentity, RepositoryRegister } from '../../forge/hosting.ts';
import { parseGlob } from '../../lib/glob.ts';
import type { Hooks } from '../../lib/hooks.ts';
import { present } from '../../lib/present.ts';
import type { Repository, RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope, maySee } from '../core/caller.ts';
import { PLAIN_GIT_HOST, withSmallHost } from '../core/directory.ts';
import { actEvent, actorFor } from '../core/feed-event.ts';
import { describeRepository, formatRef, getForge } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';
import { type RepositoryView, viewRepository } from './repositories.ts';
import { checkOwner, settleIdentity } from './settle-identity.ts';

/** A field that is absent leaves the present value. */
type RegisterRepository = RequestOf<typeof repositoriesContract.registerRepository>;

export type RegisteredView = ReplyOf<typeof repositoriesContract.registerRepository>;

// SPEC G70
export async function registerRepository(app: App, caller: Caller, asked: RegisterRepository): Answer<RegisteredView> {
  const input = { ...asked, repo: withSmallHost(asked.repo) };
  const known = await app.directory.findRepository(caller.organization.id, input.repo);
  if (known !== undefined ? !maySee(caller, known) : caller.repositoryIds !== null) {
    return limited();
  }
  const problem = checkRegistration(app, caller, input, known) ?? (await checkOwner(app, caller, input.repo));
  if (problem !== undefined) return problem;
  const repository = merge(app, caller, input, known);
  const forge = getForge(app, repository.host);
  const trouble = await forge.checkAccess(describeRepository(repository));
  if (trouble !== undefined) {
    // For plain git the path is at fault, otherwise the repository.
    const path = repository.host === PLAIN_GIT_HOST ? '/git' : '/repo';
    return refuse('VALIDATION_FAILED', trouble, [{ path, message: trouble }]);
  }
  if (forge.hosting !== undefined) {
    const placed = await place(app, caller, forge.hosting, { input, known });
    return isRefusal(placed) ? placed : { ...(await keep(app, caller, placed)), notes: [] };
  }
  const hooks = await chooseHooks(forge, repository, { asked: input.runHooks, known });
  if (isRefusal(hooks)) return hooks;
  const view = await keep(app, caller, { ...repository, runHooks: hooks.runHooks });
  if (known !== undefined && commandsOf(known) !== commandsOf(repository)) await endHolds(app, caller, repository);
  return { ...view, notes: hooks.notes };
}

function commandsOf({ checks, fileChecks }: Repository): string {
  return digestCommands(checks) + JSON.stringify(fileChecks);
}

// SPEC V38
async function endHolds(app: App, caller: Caller, { id }: Repository): Promise<void> {
  const reason = 'the commands of its checks changed';
  for (const queueId of await app.directory.listQueueIds(id)) {
    await app.queues.run(queueId, ({ hold, state }) =>
      hold !== undefined && isOfCommands(hold.cause) && state === 'RUNNING'
        ? { kind: 'queue_updated', at: app.clock.now(), actor: caller.name, settings: {}, state, reason }
        : undefined,
    );
  }
}

function isOfCommands(cause: HoldCause): boolean {
  return cause.kind === 'checks' || cause.reason === 'START_TEST_RUN_CONFIG_BAD_CHECKS';
}

/** The forge id and a block are dropped: a new registration means the repository that has the name now. */
function merge(app: App, caller: Caller, input: RegisterRepository, known: Repository | undefined): Repository {
  const at = app.clock.now();
  return {
    id: known?.id ?? (randomUUID() as RepositoryId),
    organizationId: caller.organization.id,
    ...input.repo,
    git: input.git ?? known?.git ?? null,
    forgeId: null,
    blockedReason: null,
    checks: checksGiven(input) ?? known?.checks ?? [],
    junit: input.junit ?? known?.junit ?? [],
    fileChecks: input.fileChecks === undefined ? (known?.fileChecks ?? null) : input.fileChecks,
    trustChecks: input.trustChecks ?? known?.trustChecks ?? false,
    runHooks: known?.runHooks ?? false,
    createdAt: known?.createdAt ?? at,
    updatedAt: at,
  };
}

/** Of a text that was found good. */
function checksGiven({ checks, configuration }: RegisterRepository): readonly RunnerCheck[] | undefined {
  if (configuration === undefined) return checks?.map(toCheck);
  const read = checksOfText(configuration);
  return 'problem' in read ? undefined : read;
}

type GivenCheck = NonNullable<RegisterRepository['checks']>[number];

function toCheck({ name, command, timeoutMinutes = null, network, userNamespaces, selects }: GivenCheck): RunnerCheck {
  const flags = { ...(network && { network }), ...(userNamespaces && { userNamespaces }) };
  return { name, command, timeoutMinutes, ...flags, ...present({ selects }) };
}

interface RegistrationRequest {
  readonly input: RegisterRepository;
  readonly known: Repository | undefined;
}

/** Uses the forge's spelling of the name. A repository that is known by its id continues under the new name. */
// SPEC G110
async function place(
  app: App,
  caller: Caller,
  hosting: RepositoryRegister,
  { input, known }: RegistrationRequest,
): Answer<Repository> {
  const identity = await hosting.identify(input.repo);
  const { owner, name, forgeId } = identity;
  const repo = { host: input.repo.host, owner, name };
  const twin = await app.directory.findRepositoryAtForge(caller.organization.id, { host: repo.host, forgeId });
  const kept = known && (await makeWay(app, hosting, known, identity));
  if (kept !== undefined && isRefusal(kept)) return kept;
  const before = kept ?? twin;
  if (twin !== undefined && twin.id !== before?.id) return duplicate(repo, twin);
  if (before === undefined ? caller.repositoryIds !== null : !maySee(caller, before)) return limited();
  const outcome = before && (await app.store.repositories.rename(before.id, repo, app.clock.now()));
  if (outcome === 'taken') return duplicate(input.repo, repo);
  return { ...merge(app, caller, { ...input, repo }, before), forgeId };
}

/** The repository that had the name continues under its own, with its queues. If it is gone, its tests stay. */
// SPEC G113
async function makeWay(
  app: App,
  hosting: RepositoryRegister,
  known: Repository,
  identity: RepositoryIdentity,
): Promise<Repository | Refusal | undefined> {
  if (known.forgeId === null || known.forgeId === identity.forgeId) return known;
  if ((await hosting.findById(describeRepository(known))) !== undefined) {
    await settleIdentity(app, hosting, known, identity);
    return undefined;
  }
  // Its queues would land and comment in the new repository.
  if ((await app.directory.listQueueIds(known.id)).length > 0) {
    return refuseField(
      '/repo',
      `${formatRef(known)} is another repository now than the one that has queues here, which is gone. Cancel what is in them, delete them, and register it again`,
    );
  }
  await app.store.pullRequestNotes.removeAll(known.id);
  return known;
}

function limited(): Refusal {
  return refuse('INSUFFICIENT_SCOPE', 'This token is limited to other repositories.');
}

async function keep(app: App, caller: Caller, repository: Repository): Promise<RepositoryView> {
  const { host, checks, junit, fileChecks, trustChecks, runHooks } = repository;
  const registration = {
    type: 'repository.registered',
    actor: actorFor(caller),
    text: `${caller.name} registered ${formatRef(repository)}.`,
    data: { host, checks: checks.map(({ name }) => name), junit, fileChecks, trustChecks, runHooks },
  };
  const feed = [actEvent(app.clock.now(), registration, { repositoryId: repository.id })];
  const stored = await app.store.repositories.save(repository, feed);
  app.feed.wake();
  app.directory.forget();
  return viewRepository(app, stored);
}

// SPEC G110
function duplicate(asked: RepositoryRef, there: RepositoryRef): Refusal {
  return refuseField(
    '/repo',
    `${formatRef(asked)} is the repository that is known here as ${formatRef(there)}. Remove what is registered under one of the names first`,
  );
}

function findBadCheck(checks: readonly GivenCheck[]): Refusal | undefined {
  const twin = checks.findIndex(({ name }, index, all) => all.findIndex((other) => other.name === name) < index);
  // Two checks of one name could not be told apart.
  if (twin >= 0) return refuseField(`/checks/${twin}/name`, 'is the name of another check');
  // SPEC R104
  const closed = checks.findIndex(({ command, selects }) => selects !== undefined && !takesArguments(command));
  return closed < 0 ? undefined : refuseField(`/checks/${closed}/selects`, NO_PLACE);
}

const NO_PLACE = 'needs a command that says where its arguments go: "$@", in double quotes';

function checkRegistration(
  app: App,
  caller: Caller,
  input: RegisterRepository,
  known: Repository | undefined,
): Refusal | undefined {
  const isPlain = input.repo.host === PLAIN_GIT_HOST;
  if (!app.forges.has(input.repo.host)) return notConnected(app, input.repo);
  const misplaced = isPlain ? undefined : PLAIN_ONLY.find((field) => input[field] !== undefined);
  if (misplaced !== undefined) {
    return refuseField(`/${misplaced}`, `is for repositories of the host "${PLAIN_GIT_HOST}" only`);
  }
  if (isPlain && input.git === undefined && known === undefined) {
    return refuseField('/git', 'must name the path or URL of the bare repository');
  }
  const badCheck = findBadCheck(input.checks ?? []);
  if (badCheck !== undefined) return badCheck;
  if (input.checks !== undefined && input.configuration !== undefined)
    return refuseField('/configuration', 'says the checks, as /checks does: give one of them');
  const read = input.configuration === undefined ? [] : checksOfText(input.configuration);
  if ('problem' in read) return refuseField('/configuration', `cannot be used. ${read.problem}`);
  const { trustChecks = known?.trustChecks, fileChecks = known?.fileChecks ?? null } = input;
  // SPEC R63
  if (trustChecks === true && fileChecks !== null) {
    const message = 'cannot go with trustChecks: everybody who can land a change could then run commands as the server';
    return refuseField('/fileChecks', message);
  }
  const badGlob = findBadGlob(input.junit ?? []);
  if (badGlob !== undefined) return badGlob;
  // The server reads the path, and runs commands and hooks, with its own permissions.
  const needsInstance = [
    input.git,
    input.checks,
    input.configuration,
    input.fileChecks,
    input.trustChecks,
    input.runHooks,
  ].some((given) => given !== undefined);
  if (needsInstance && !hasScope(caller, 'instance')) {
    const what = 'A plain git path, its hooks, runner commands, what a file may choose of them, and trust in them';
    return refuse('INSUFFICIENT_SCOPE', `${what} need a token with the scope "instance".`);
  }
  return undefined;
}

// SPEC R47
function findBadGlob(junit: readonly string[]): Refusal | undefined {
  for (const [index, text] of junit.entries()) {
    const isInside = !text.startsWith('/') && !text.split('/').includes('..');
    const problem = isInside ? parseGlob(text) : 'leads out of the work tree';
    if (typeof problem === 'string') return refuseField(`/junit/${index}`, problem);
  }
  return undefined;
}

const PLAIN_ONLY = ['git', 'checks', 'configuration', 'fileChecks', 'runHooks'] as const;

function notConnected({ forges }: App, { host }: RepositoryRef): Refusal {
  const message = 'is not connected to this server';
  const others = [...forges.keys()].filter((each) => each !== PLAIN_GIT_HOST);
  const detail = [
    `${host} ${message}.`,
    'Run "sluice forge setup" on the server\'s machine, as the user of the server and with its data folder.',
    ...(others.length === 0 ? [] : [`It is connected to ${others.join(', ')}.`]),
    `Plain git repositories have the host "${PLAIN_GIT_HOST}".`,
  ];
  return refuse('VALIDATION_FAILED', detail.join(' '), [{ path: '/repo/host', message }]);
}

interface Choice {
  readonly runHooks: boolean;
  readonly notes: readonly string[];
}

interface Wish {
  readonly asked: boolean | undefined;
  /** The repository as registered before. */
  readonly known: Repository | undefined;
}

// SPEC L17
async function chooseHooks(forge: Forge, repository: Repository, { asked, known }: Wish): Answer<Choice> {
  const hooks = await forge.findHooks?.(describeRepository(repository));
  if (hooks === undefined && asked === undefined) return { runHooks: false, notes: [] };
  if (hooks === undefined) {
    const message = 'is for repositories that are registered by a path. Hooks of one with a URL run at the remote';
    return refuseField('/runHooks', message);
  }
  if (asked === true && hooks.problem !== undefined) {
    return refuseField(
      '/runHooks',
      `cannot be set: ${hooks.problem}. Everybody who can write a hook, or a file that names one, can run commands as the server`,
    );
  }
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
