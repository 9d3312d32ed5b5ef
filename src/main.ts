import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { createAdminLink, ensureAdmin } from './app/access/admin-token.ts';
import { Authenticator } from './app/access/authenticate.ts';
import { bindPublicRead } from './app/access/public-read.ts';
import type { App, WebhookAccess } from './app/core/app.ts';
import { Backups } from './app/core/backups.ts';
import { Directory } from './app/core/directory.ts';
import { Feed } from './app/core/feed.ts';
import { keepOperatorLog } from './app/core/operator-log.ts';
import { endOutages, Outages, recordOutages } from './app/core/outages.ts';
import { QueueHost } from './app/core/queue-host.ts';
import { StoreHealth } from './app/core/store-health.ts';
import { StorePoller } from './app/core/store-poller.ts';
import { WakeSignal } from './app/core/wake-signal.ts';
import { createEffectWorker } from './app/effects/effect-worker.ts';
import { watchLateReports } from './app/effects/judge-check.ts';
import { Forecaster } from './app/forecast/forecaster.ts';
import { createForgePoller } from './app/forge-events/forge-poller.ts';
import { createHintWatch, createHintWorker } from './app/forge-events/hint-worker.ts';
import { PlainGitPoller } from './app/forge-events/plain-git-poller.ts';
import { createAudit } from './app/upkeep/audit.ts';
import { createBackupRounds } from './app/upkeep/backup.ts';
import { createHousekeeping, createPacking, tellOfHooks } from './app/upkeep/housekeeping.ts';
import { createSweep } from './app/upkeep/sweep-refs.ts';
import { Timers } from './app/upkeep/timers.ts';
import { findUploadPlace } from './app/uploads/find-upload-place.ts';
import { UnusedUploads } from './app/uploads/unused-uploads.ts';
import { createDigestRounds } from './app/webhooks/daily-digest.ts';
import { createDeliveryWorker } from './app/webhooks/deliver.ts';
import { createDeliveryMaker } from './app/webhooks/make-deliveries.ts';
import { findOtherKey } from './app/webhooks/secrets.ts';
import { createLocalRunner, findRunnerFolder } from './check-runner/local/local-runner.ts';
import type { CheckRunner } from './check-runner/runner.ts';
import { type Config, type Environment, listSecretFiles, parseConfig } from './config/config.ts';
import { describeStartError } from './config/start-error.ts';
import { connectForges } from './connect-forges.ts';
import { connectProviders } from './connect-providers.ts';
import { findServerId, keepAddress } from './data-folder.ts';
import type { PlaceQuestion } from './flaky/upload-place.ts';
import { createServer } from './http/server.ts';
import { createIngestProcess, type IngestProcess, type IngestProcessOptions } from './ingest/ingest-process.ts';
import { createLaneReader } from './lanes/lane-thread.ts';
import { systemClock, type Timing } from './lib/clock.ts';
import { Fault } from './lib/fault.ts';
import { LineWriter } from './lib/line-writer.ts';
import { createJsonLog, createTextLog, type Log, type LogLevel } from './lib/log.ts';
import { SLUICE } from './lib/sluice-command.ts';
import { readVersion } from './lib/version.ts';
import { openStore } from './open-store.ts';
import { openTracing, startTraces } from './open-tracing.ts';
import { createSecretBox, loadSecretKey } from './outgoing/http/secret-box.ts';
import { createWebhookSender } from './outgoing/http/send-webhook.ts';
import { createPersonalSender } from './outgoing/people/send-to-people.ts';
import { SimulatorThread } from './simulator/thread/simulator-thread.ts';
import { watchStopSignals } from './stop-signals.ts';
import type { Store } from './storage/store.ts';

export interface Running {
  readonly url: string;
  /** Shown once, at the first start. */
  readonly newToken: string | undefined;
  readonly tokenFile: string | undefined;
  /** A link that signs in to the dashboard as the administrator. Undefined if nobody knows the token. */
  createSignInLink(): Promise<string | undefined>;
  /** Says that the server is about to stop, and serves requests for some time more, or until `sooner`. */
  drain(sooner: Promise<void>): Promise<void>;
  stop(): Promise<void>;
}

/** Requests in flight get this long to finish. Then their connections are closed. */
const STOP_MS = 6_000;
/** Then a stop gives up what still waits, such as calls of a database that hangs: it is safe, as after a kill. */
const LONGEST_STOP_MS = 8_500;
const REQUEST_TIMEOUT_MS = 120_000;
/** Pending connections, because a whole CI may start at once. The kernel lowers it to its own limit. */
const BACKLOG = 4_096;
/** Uploads that an earlier server left wait this long: to load the process would delay the first requests. */
const INGEST_START_MS = 5_000;

export interface StartOptions {
  /** The delay of the ingest process where no upload comes before. */
  readonly ingestStartMs?: number;
  readonly clock?: Timing;
}

/** Wires config -> adapters -> app -> http -> listen. No other file knows all parts. */
export async function start(config: Config, log: Log, options: StartOptions = {}): Promise<Running> {
  const store = await openStore(config, log);
  try {
    return await startOn(store, config, { log, ...options });
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function startOn(
  store: Store,
  config: Config,
  { log: outerLog, clock = systemClock, ingestStartMs = INGEST_START_MS }: StartOptions & { readonly log: Log },
): Promise<Running> {
  const health = new StoreHealth({ log: outerLog, clock });
  const opened = await openApp(store, config, { log: health.log, clock, firstStartMs: ingestStartMs });
  const { app, ingest, serverId } = opened;
  await endOutages(store, serverId, clock.now());
  tellOfHooks(app);
  await tellOfOtherKey(app);
  keepOperatorLog(app);
  const endTraces = startTraces(app, opened.tracing);
  app.queues.listen((loaded) => app.feed.noteQueue(loaded));
  const plainGitPoller = new PlainGitPoller(app);
  const worker = createEffectWorker(app, serverId);
  watchLateReports(app);
  const hintWorker = createHintWorker(app, serverId);
  const deliveryWorker = createDeliveryWorker(app, serverId);
  const deliveryMaker = createDeliveryMaker(app);
  app.feed.listen(() => deliveryMaker.wake());
  const timers = new Timers(app);
  const storePoller = new StorePoller(
    app,
    {
      effects: () => worker.wake(),
      hints: () => hintWorker.wake(),
      deliveries: () => deliveryWorker.wake(),
      webhooks: () => deliveryMaker.wake(),
      uploads: () => ingest.wake(),
      entries: () => plainGitPoller.noteEntries(),
      feed: (stored) => app.feed.noteStored(stored),
    },
    health,
  );
  health.onDoubt = () => storePoller.wake();
  const server = await openServer(app, config, store.isShared ? health : undefined);
  const url = await server.listen({ host: config.host, port: config.port, backlog: BACKLOG });
  await keepAddress(config, url, app.log);
  const rounds = [
    ...[createAudit(app), createForgePoller(app), createHintWatch(app), deliveryMaker, createDigestRounds(app)],
    ...[createSweep(app), createPacking(app), createHousekeeping(app, config), ...opened.rounds],
    ...(config.backupSchedule === undefined ? [] : [createBackupRounds(app, config.backupSchedule)]),
  ];
  const workers = [storePoller, plainGitPoller, worker, hintWorker, deliveryWorker, timers, ingest, app.feed];
  const started = [...workers, ...rounds];
  for (const each of started) each.start();
  return {
    url,
    newToken: opened.newSecret,
    tokenFile: opened.tokenFile,
    createSignInLink: () => createAdminLink(app, config.publicUrl ?? url),
    drain: (sooner) => drain(server, config, sooner),
    stop: () => stop({ server, app, started, endTraces }),
  };
}

/** Opens all parts of the app. Nothing runs yet. */
async function openApp(
  store: Store,
  config: Config,
  { log, clock, firstStartMs }: { readonly log: Log; readonly clock: Timing; readonly firstStartMs: number },
) {
  const admin = {
    slug: config.organization,
    adminToken: config.adminToken,
    tokenFile: path.join(config.dataFolder, 'admin-token'),
  };
  const { newSecret, tokenFile } = await ensureAdmin({ store, clock, log, admin });
  const backups = await openBackups(config);
  const { forges, watch } = await connectForges(config, { clock, log });
  const checkRunner = await createRunner(config, log);
  const serverId = await findServerId(config);
  const tracing = await openTracing(config, { serverId, log });
  const findPlace = (question: PlaceQuestion) => findUploadPlace(app, question);
  const ingest = createIngest(config, serverId, { store, clock, log, findPlace, firstStartMs });
  const unusedUploads = new UnusedUploads({ store, clock, log });
  const simulator = new SimulatorThread({ entry: entryOf('simulator-main'), clock, log });
  const { identity, rounds } = await connectProviders(config, { store, forges, clock, log });
  const app: App = {
    store,
    queues: new QueueHost(store, clock),
    directory: new Directory(store, forges),
    auth: new Authenticator({ store, clock, log }),
    forges,
    checkRunner,
    clock,
    ingest,
    outages: new Outages(recordOutages({ store, log, serverId })),
    hints: new WakeSignal(),
    feed: new Feed({ store, clock, log }),
    webhooks: await openWebhooks(config),
    log,
    publicUrl: config.publicUrl,
    tokenDays: config.tokenDays,
    unusedUploads,
    backups,
    admin,
    simulator,
    lanes: createLaneReader({ entry: entryOf('lanes-main'), clock, log }),
    forecasts: new Forecaster({ store, simulator, clock, log }),
    ...identity,
    tracing,
  };
  return {
    app,
    ingest,
    serverId,
    tracing,
    newSecret,
    tokenFile,
    rounds: [unusedUploads.createRounds(), watch, ...rounds],
  };
}

async function openServer(app: App, config: Config, storeHealth: StoreHealth | undefined) {
  return createServer({
    app,
    storeHealth,
    log: app.log,
    version: readVersion(),
    dataFolder: config.dataFolder,
    publicRead: await bindPublicRead(app, config.publicRead),
    webFolder: fileURLToPath(new URL('../.cache/web', import.meta.url)),
    publicUrl: config.publicUrl,
    trustedProxies: config.trustedProxies,
    metricsToken: config.metricsToken,
    rateLimit: config.rateLimit,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
}

async function openWebhooks(config: Config): Promise<WebhookAccess> {
  const { dataFolder, secretKey, webhookNetworks } = config;
  const box = createSecretBox(await loadSecretKey(dataFolder, secretKey));
  const sender = createWebhookSender({ networks: webhookNetworks, userAgent: `Sluice/${readVersion()}` });
  const people = createPersonalSender(config.messages);
  return { signal: new WakeSignal(), box, sender, people, attempts: { delivered: 0, failed: 0 } };
}

async function tellOfOtherKey(app: App): Promise<void> {
  const other = await findOtherKey(app);
  if (other !== undefined) app.log.warn({ code: other.code }, other.detail);
}

/** Ingest has its own process: a large report must not delay requests, and a server can always end it. */
function createIngest(
  config: Config,
  holder: string,
  parts: Omit<IngestProcessOptions, 'entry' | 'data'>,
): IngestProcess {
  const { dataFolder, databaseUrl, testBranchPrefix, logLevel, uploadKeepDays, uploadKeepBytes } = config;
  const limits = {
    uploadKeepDays,
    uploadKeepBytes,
    maxNewTests: config.uploadNewTests,
    maxRepositoryTests: config.repositoryTests,
  };
  const data = { dataFolder, databaseUrl, holder, testBranchPrefix, logLevel, ...limits };
  return createIngestProcess({ entry: entryOf('ingest-main'), data, ...parts });
}

/** The file that a thread or a process begins with. Bundled code ends in .mjs. */
function entryOf(name: string): URL {
  return new URL(`./${name}${path.extname(import.meta.filename)}`, import.meta.url);
}

function createRunner(config: Config, log: Log): Promise<CheckRunner> {
  const { dataFolder, runner } = config;
  const folder = findRunnerFolder(dataFolder, runner.wanted);
  const kept = { folder: path.join(dataFolder, 'caches'), limitBytes: runner.cacheBytes };
  return createLocalRunner({ ...runner, folder, kept, secrets: [dataFolder, ...listSecretFiles(config)], log });
}

/** A chosen folder that is not there is refused now: the first backup may be due at night. */
// SPEC D25
async function openBackups({ dataFolder, backupFolder, backupSchedule }: Config): Promise<Backups> {
  const folder = backupFolder ?? path.join(dataFolder, 'backups');
  const backups = new Backups({
    ...{ folder, isChosen: backupFolder !== undefined },
    isScheduled: backupSchedule !== undefined,
  });
  const problem = await backups.findFolderProblem(path.join(folder, 'any'));
  if (problem !== undefined) throw new Fault('MISCONFIGURED', `SLUICE_BACKUP_DIR cannot be used. ${problem}`);
  await backups.load();
  return backups;
}

// SPEC D38
async function drain(server: FastifyInstance, config: Config, sooner: Promise<void>): Promise<void> {
  server.isStopping = true;
  await drainTime(config, sooner);
}

function drainTime({ drainSeconds }: Config, sooner: Promise<void>): Promise<void> {
  return Promise.race([sleep(drainSeconds * 1_000, undefined, { ref: false }), sooner]);
}

/** A git process that hangs is ended after the requests that wait for it; then the pollers that wait for git end. */
// SPEC H10
async function stop(parts: {
  readonly server: FastifyInstance;
  readonly app: App;
  readonly started: readonly { stop(): Promise<void> }[];
  readonly endTraces: () => Promise<void>;
}): Promise<void> {
  const { server, app, started, endTraces } = parts;
  app.backups.stop();
  const ended = Promise.all([...started, app.simulator, app.lanes].map((part) => part.stop()));
  const cutOff = setTimeout(() => server.server.closeAllConnections(), STOP_MS);
  // An endpoint may take its time: its delivery is repeated after the restart.
  await app.webhooks.sender.close();
  await server.close();
  clearTimeout(cutOff);
  for (const forge of app.forges.values()) await forge.close();
  await ended;
  await app.checkRunner.close();
  await app.auth.close();
  await endTraces();
  await app.store.close();
}

// SPEC W40
export async function serve(environment: Environment): Promise<number> {
  const parsed = parseConfig(environment);
  if ('problems' in parsed) {
    for (const problem of parsed.problems) complain(problem);
    complain('Sluice did not start. "sluice serve --help" explains every variable.');
    return 2;
  }
  const { log, flush } = createLog(parsed.config);
  for (const warning of parsed.warnings) log.warn({}, warning);
  // Registered before the start, so that a signal during the start or right after it stops the server cleanly.
  const signals = watchStopSignals();
  try {
    await Promise.race([run(parsed.config, log, signals).then(flush), giveUp(parsed.config, log, signals)]);
    return 0;
  } catch (error) {
    complain(describeStartError(error, parsed.config));
    return error instanceof Fault && error.code === 'MISCONFIGURED' ? 2 : 1;
  }
}

type StopSignals = ReturnType<typeof watchStopSignals>;

async function run(config: Config, log: Log, { first, second }: StopSignals): Promise<void> {
  const running = await start(config, log);
  await announce(running);
  await first;
  log.info({}, 'stopping');
  await running.drain(second);
  await running.stop();
}

// SPEC H10
async function giveUp(config: Config, log: Log, { first, second }: StopSignals): Promise<void> {
  await first;
  await drainTime(config, second);
  await sleep(LONGEST_STOP_MS);
  log.warn({}, 'the stop took too long, and what was under way is given up');
}

/** JSON lines to standard error, or readable lines on a terminal. */
export function createLog({ logLevel }: Config): { readonly log: Log; flush(): Promise<void> } {
  const lines = new LineWriter(2);
  process.on('exit', () => lines.writeOut());
  const create = process.stderr.isTTY ? createTextLog : createJsonLog;
  const write = (line: string, level: LogLevel) =>
    lines.write(line, { isUrgent: level === 'warn' || level === 'error' });
  return { log: create(logLevel, write), flush: () => lines.flush() };
}

/** A link is a secret, and logs keep what is printed: only a terminal shows it. */
// SPEC A39
async function announce(running: Running): Promise<void> {
  say(`Sluice listens on ${running.url}`);
  if (running.newToken !== undefined) {
    say(`\nAdmin token (shown only now; also in ${running.tokenFile}):\n\n  ${running.newToken}\n`);
  }
  const link = process.stdout.isTTY ? await running.createSignInLink() : undefined;
  say(`Dashboard: ${running.url}/${link === undefined ? '' : `\nSign in to it, once, within 10 minutes: ${link}`}`);
  say(`API documentation: ${running.url}/docs`);
  say(`In another terminal, a queue at work: ${SLUICE} demo`);
  say(`Your own repository, bare or by its URL: ${SLUICE} repo add --git /srv/git/app.git`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function complain(text: string): void {
  process.stderr.write(`${text}\n`);
}
