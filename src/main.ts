import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { Authenticator } from './app/access/authenticate.ts';
import { ensureOrganization } from './app/access/ensure-organization.ts';
import { hashTokenSecret } from './app/access/token-secret.ts';
import type { App } from './app/core/app.ts';
import { Directory } from './app/core/directory.ts';
import { Outages } from './app/core/outages.ts';
import type { PeriodicTask } from './app/core/periodic.ts';
import { QueueHost } from './app/core/queue-host.ts';
import { WakeSignal } from './app/core/wake-signal.ts';
import { EffectWorker } from './app/effects/effect-worker.ts';
import { createForgePoller } from './app/forge-events/forge-poller.ts';
import { HintWorker } from './app/forge-events/hint-worker.ts';
import { PlainGitPoller } from './app/forge-events/reconcile.ts';
import { createHintWatch } from './app/forge-events/watch-hints.ts';
import { createAudit } from './app/upkeep/audit.ts';
import { createHousekeeping } from './app/upkeep/housekeeping.ts';
import { tellOfHooks } from './app/upkeep/report-hooks.ts';
import { createSweep } from './app/upkeep/sweep-refs.ts';
import { Timers } from './app/upkeep/timers.ts';
import { findUploadPlace } from './app/uploads/find-upload-place.ts';
import { UnusedUploads } from './app/uploads/unused-uploads.ts';
import { createLocalRunner } from './check-runner/local/local-runner.ts';
import { findRunnerFolder } from './check-runner/local/runner-folder.ts';
import type { CheckRunner } from './check-runner/runner.ts';
import { type Config, type Environment, parseConfig } from './config/config.ts';
import { connectForges } from './connect-forges.ts';
import type { PlaceQuestion, UploadPlace } from './flaky/upload-place.ts';
import { createServer } from './http/server.ts';
import { createIngestThread, type IngestThread } from './ingest/thread.ts';
import type { ThreadData } from './ingest/thread-messages.ts';
import { systemClock } from './lib/clock.ts';
import { Fault } from './lib/fault.ts';
import { createJsonLog, createTextLog, type LogLevel } from './lib/json-log.ts';
import { LineWriter } from './lib/line-writer.ts';
import type { Log } from './lib/log.ts';
import { readVersion } from './lib/version.ts';
import { createTurnMemory } from './storage/sqlite/write-turn.ts';
import type { Store } from './storage/store.ts';

/** A server that runs. */
export interface Running {
  readonly url: string;
  /** Shown once, at the very first start. */
  readonly newToken: string | undefined;
  readonly tokenFile: string | undefined;
  stop(): Promise<void>;
}

/** Requests in flight get this long to finish; whatever is left then is cut off. */
const STOP_MS = 6_000;
const REQUEST_TIMEOUT_MS = 120_000;
/** Connections that wait to be taken: a whole CI may begin at once. The kernel cuts it to what it allows. */
const BACKLOG = 4_096;

interface OpenedStore extends Pick<ThreadData, 'writeTurn'> {
  readonly store: Store;
}

/** config -> adapters -> app -> http -> listen: the only place that knows everyone. */
export async function start(config: Config, log: Log): Promise<Running> {
  const writeTurn = config.databaseUrl === undefined ? createTurnMemory() : undefined;
  const store = await openStore(config, writeTurn);
  try {
    return await startOn({ store, writeTurn }, config, log);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/**
 * Names the server that uses this data folder, also after it starts again: what it was doing when it died is then its own
 * to go on with.
 */
async function findServerId({ dataFolder }: Config): Promise<string> {
  const file = path.join(dataFolder, 'server-id');
  const present = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (/^[0-9a-f-]{36}$/.test(present)) return present;
  const id = randomUUID();
  await writeFile(file, `${id}\n`, { mode: 0o600 });
  return id;
}

async function startOn({ store, writeTurn }: OpenedStore, config: Config, log: Log): Promise<Running> {
  const clock = systemClock;
  const { newSecret } = await ensureOrganization(
    { store, clock },
    { slug: config.organization, adminToken: config.adminToken },
  );
  const tokenFile = newSecret === undefined ? undefined : await keepToken(store, config, newSecret, log);
  const { forges, watch } = await connectForges(config, { clock, log });
  const jobs = await createRunner(config, log);
  const serverId = await findServerId(config);
  const findPlace = (question: PlaceQuestion) => findUploadPlace(app, question);
  const ingest = createIngest(config, { holder: serverId, writeTurn }, { clock, log, findPlace });
  const unusedUploads = new UnusedUploads({ store, clock, log });
  const app: App = {
    store,
    queues: new QueueHost(store, clock),
    directory: new Directory(store, forges),
    auth: new Authenticator({ store, clock, log }),
    forges,
    checkRunner: jobs,
    clock,
    ingest,
    outages: new Outages(),
    hints: new WakeSignal(),
    log,
    publicUrl: config.publicUrl,
    unusedUploads,
    backupFolder: path.join(config.dataFolder, 'backups'),
  };
  tellOfHooks(app);
  const reconciler = new PlainGitPoller(app);
  const worker = new EffectWorker(app, serverId);
  const noticeWorker = new HintWorker(app, serverId);
  const timers = new Timers(app);
  const server = createServer({
    app,
    log,
    version: readVersion(),
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    rateLimit: config.rateLimit,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  const url = await server.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  reconciler.start();
  worker.start();
  noticeWorker.start();
  timers.start();
  ingest.start();
  const rounds = [
    ...[createAudit(app), createForgePoller(app), createHintWatch(app)],
    ...[createSweep(app), createHousekeeping(app), unusedUploads.createRounds(), watch],
  ];
  for (const each of rounds) each.start();
  return {
    url,
    newToken: newSecret,
    tokenFile,
    stop: () => stop({ server, app, ingest, reconciler, worker, noticeWorker, timers, rounds }),
  };
}

/** On a thread of its own: reading a large report must not keep a request waiting. */
function createIngest(
  config: Config,
  { holder, writeTurn }: Pick<ThreadData, 'holder' | 'writeTurn'>,
  parts: Pick<App, 'clock' | 'log'> & { findPlace(question: PlaceQuestion): Promise<UploadPlace> },
): IngestThread {
  const { dataFolder, databaseUrl, testBranchPrefix, logLevel, uploadKeepDays, uploadKeepBytes } = config;
  const limits = {
    uploadKeepDays,
    uploadKeepBytes,
    maxNewTests: config.uploadNewTests,
    maxRepositoryTests: config.repositoryTests,
  };
  const data = { dataFolder, databaseUrl, writeTurn, holder, testBranchPrefix, logLevel, ...limits };
  return createIngestThread({ entry: new URL('./ingest-main.ts', import.meta.url), data, ...parts });
}

function createRunner(config: Config, log: Log): Promise<CheckRunner> {
  const { dataFolder, github } = config;
  return createLocalRunner({
    folder: findRunnerFolder(dataFolder, config.runnerProtection),
    jobs: config.runnerJobs,
    wanted: config.runnerProtection,
    trustsAll: config.runnerTrustsAll,
    uids: config.runnerUids,
    processes: config.runnerProcesses,
    tools: config.runnerTools,
    caches: config.runnerCaches,
    secrets: [dataFolder, ...(github?.auth.kind === 'key_file' ? [github.auth.file] : [])],
    log,
  });
}

async function openStore(config: Config, writeTurn: ThreadData['writeTurn']): Promise<Store> {
  if (config.databaseUrl !== undefined) {
    return openSharedStore(config.databaseUrl, config.dataFolder);
  }
  const { openSqliteStore } = await import('./storage/sqlite/open-sqlite-store.ts');
  return openSqliteStore({ directory: config.dataFolder, writeTurn });
}

/** The store is everybody's; the folder, with copies of repositories and the work of checks, is one server's. */
async function openSharedStore(url: string, folder: string): Promise<Store> {
  const { openPostgresStore } = await import('./storage/postgres/open-postgres-store.ts');
  const { lockFolder } = await import('./storage/sqlite/folder.ts');
  const lock = lockFolder(folder);
  try {
    const store = await openPostgresStore({ url });
    const close = () => store.close().finally(() => lock.release());
    return { ...store, close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Answers where the token was kept. */
async function keepToken(store: Store, config: Config, secret: string, log: Log): Promise<string> {
  const file = await chooseTokenFile(store, config);
  try {
    await mkdir(config.dataFolder, { recursive: true, mode: 0o700 });
    // On a full disk the former one stays: it may be that of a store which comes back.
    await rm(`${file}.new`, { force: true });
    await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  } catch (error) {
    // It is printed all the same, and can be made up anew with SLUICE_ADMIN_TOKEN.
    log.warn({ err: error, file }, 'the admin token could not be kept in a file');
  }
  return file;
}

/** A token of another organization stays where it is: its file may be the only copy. */
async function chooseTokenFile(store: Store, config: Config): Promise<string> {
  const file = path.join(config.dataFolder, 'admin-token');
  const present = await readFile(file, 'utf8').catch(() => '');
  const isInUse = present !== '' && (await store.accounts.findToken(hashTokenSecret(present.trim()))) !== undefined;
  return isInUse ? `${file}-${config.organization}` : file;
}

/**
 * In the order in which they depend on each other: nobody is cut off from what he still needs. A git that hangs is ended
 * when the requests that may wait for it are answered or out of time; whoever looks for changes then ends too.
 */
async function stop(parts: {
  readonly server: FastifyInstance;
  readonly app: App;
  readonly ingest: IngestThread;
  readonly reconciler: PlainGitPoller;
  readonly worker: EffectWorker;
  readonly noticeWorker: HintWorker;
  readonly timers: Timers;
  readonly rounds: readonly PeriodicTask[];
}): Promise<void> {
  const { reconciler, worker, noticeWorker, timers, ingest, rounds } = parts;
  const stopping = [reconciler, worker, noticeWorker, timers, ingest, ...rounds].map((part) => part.stop());
  const ended = Promise.all(stopping);
  const cutOff = setTimeout(() => parts.server.server.closeAllConnections(), STOP_MS);
  await parts.server.close();
  clearTimeout(cutOff);
  for (const forge of parts.app.forges.values()) await forge.close();
  await ended;
  await parts.app.checkRunner.close();
  await parts.app.auth.close();
  await parts.app.store.close();
}

/** `sluice serve`: runs until it is told to stop, and answers the exit code. */
export async function serve(environment: Environment): Promise<number> {
  const parsed = parseConfig(environment);
  if ('problems' in parsed) {
    for (const problem of parsed.problems) complain(problem);
    complain('Sluice did not start. "sluice serve --help" explains every variable.');
    return 2;
  }
  const { log, flush } = createLog(parsed.config);
  for (const warning of parsed.warnings) log.warn({}, warning);
  // From now on: whoever stops it while it starts, or the moment it says that it listens, stops it in good order.
  const askedToStop = untilAskedToStop();
  try {
    const running = await start(parsed.config, log);
    announce(running);
    await askedToStop;
    log.info({}, 'stopping');
    await running.stop();
    await flush();
    return 0;
  } catch (error) {
    complain(describeStartError(error, parsed.config));
    return 1;
  }
}

/** JSON lines to standard error, readable lines on a terminal. */
export function createLog({ logLevel }: Config): { readonly log: Log; flush(): Promise<void> } {
  const lines = new LineWriter(2);
  process.on('exit', () => lines.writeOut());
  const create = process.stderr.isTTY ? createTextLog : createJsonLog;
  const write = (line: string, level: LogLevel) =>
    lines.write(line, { isUrgent: level === 'warn' || level === 'error' });
  return { log: create(logLevel, write), flush: () => lines.flush() };
}

function announce(running: Running): void {
  say(`Sluice listens on ${running.url}`);
  if (running.newToken !== undefined) {
    say(`\nAdmin token (shown only now; also in ${running.tokenFile}):\n\n  ${running.newToken}\n`);
  }
  say(`API documentation: ${running.url}/docs`);
  say('To see a queue at work, in another terminal: npx sluice demo');
}

function describeStartError(error: unknown, config: Config): string {
  if (error instanceof Fault) return error.told === undefined ? error.detail : `${error.detail} ${error.told}`;
  const code = (error as { code?: string }).code;
  if (code === 'EADDRINUSE') return `Port ${config.port} of ${config.host} is in use. Set SLUICE_PORT to another one.`;
  if (code === 'EACCES') return `Port ${config.port} may not be used by this user. Set SLUICE_PORT to one above 1023.`;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `This machine has no address ${config.host}. Check SLUICE_HOST.`;
  if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG')
    return `The disk of the data folder ${config.dataFolder} is full. Make room, and start Sluice again.`;
  return `Sluice could not start: ${(error as Error).stack ?? String(error)}`;
}

/** A terminal tells every process of its group, and npm tells its child again: the second signal means nothing new. */
function untilAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
