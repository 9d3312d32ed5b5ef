import { setImmediate } from 'node:timers/promises';
import type { Instant } from '../../lib/clock.ts';
import {
  keyOfOutage,
  type Moment,
  type MomentQuery,
  type Packing,
  type PastFact,
  type PastPlace,
  type PastQueue,
  type PastStore,
  type StandingQueue,
} from '../past.ts';
import {
  type Change,
  compressAside,
  compressChanges,
  digestsOf,
  encodeWhole,
  Folded,
  isWhole,
  keyOfCandidate,
  keyOfEntry,
  keyOfTargets,
  type PastKey,
  readChanges,
  readChangesAside,
} from '../past-codec.ts';
import type { CandidateRow, EntryRow, ImpactedTargetsRow, QueueId, QueueSnapshot, TargetSetRow } from '../queues.ts';
import { all, allOf, execute, executeAll, findRow, first, type Operation, run, type SqlEngine } from './operation.ts';
import { beginFacts, endFacts } from './past-facts.ts';
import { HORIZON, pastStatements } from './past-statements.ts';
import { queueStatements } from './queue-statements.ts';
import { toCandidate, toEntry, toImpactedTargets, toPastFact, toQueue } from './rows.ts';
import type { Schema } from './schema.ts';
import { callOf, type StatementCompiler } from './statement.ts';

type PastStatements = ReturnType<typeof pastStatements>;
type Statements = PastStatements & ReturnType<typeof queueStatements>;

export function toChange(
  queueId: string,
  { version, at }: Moment,
  { body, feed }: Pick<Schema['queue_changes'], 'body' | 'feed'>,
): Schema['queue_changes'] {
  return { queue_id: queueId, version, at, size: body.length, body, feed };
}

// SPEC Y1
export function createPastStore(engine: SqlEngine, compiler: StatementCompiler): PastStore {
  const statements = { ...queueStatements(compiler), ...pastStatements(compiler) };
  return {
    load: (queueId, at) => engine.snapshot(() => load(statements, queueId, at)),
    findBegin: (queueId) => engine.read(() => findBegin(statements, queueId)),
    listMoments: (query) => engine.snapshot(() => listMoments(statements, query)),
    listStanding: (repositoryId, branch) =>
      engine.read(function* () {
        const rows = yield* all(statements.listStanding, { repositoryId, branch });
        return rows.map(
          ({ id, created_at, deleted_at }): StandingQueue => ({
            id: id as QueueId,
            createdAt: created_at,
            deletedAt: deleted_at,
          }),
        );
      }),
    ...rowReads(engine, statements),
    ...packing(engine, statements),
    listFacts: (subjects, at) =>
      engine.read(function* () {
        const rows = yield* allOf(statements.listFacts({ at }, [...new Set(subjects)]));
        const facts = new Map<string, PastFact>();
        for (const fact of rows.map(toPastFact).sort((a, b) => a.untilAt - b.untilAt)) {
          const key = `${fact.subject} ${fact.key}`;
          if (!facts.has(key)) facts.set(key, fact);
        }
        return [...facts.values()];
      }),
    endOutages: (serverId, of) => engine.write(() => run(statements.endOutages, { ...of, key: keyOfOutage(serverId) })),
    changeFacts: (subject, keys, begun, at) =>
      engine.write(() =>
        executeAll([...endFacts(statements, subject, { keys, at }), ...beginFacts(statements, begun, at)]),
      ),
  };
}

function packing(engine: SqlEngine, statements: Statements) {
  return {
    listUnpacked: (bytes, before) =>
      engine.read(function* () {
        const grown = yield* all(statements.listGrown, { bytes, before });
        const bare = yield* all(statements.listBare, {});
        return [...new Set([...grown, ...bare].map(({ id }) => id as QueueId))];
      }),
    pack: (queueId, of) => pack(engine, statements, queueId, of),
    expire: (before, limit) =>
      engine.write(function* () {
        const packs = yield* all(statements.listOldPacks, { before, limit });
        yield* executeAll(
          packs.flatMap(({ queue_id: queueId, version }) => [
            callOf(statements.removeKeys, { queueId, version }),
            callOf(statements.removePack, { queueId, version }),
          ]),
        );
        const facts = yield* execute(statements.expireFacts, { before, limit });
        const horizon = Math.max(before, yield* findHorizon(statements));
        yield* executeAll(statements.setHorizon([{ name: HORIZON, value: String(horizon) }]));
        return Math.max(packs.length, facts);
      }),
  } satisfies Partial<PastStore>;
}

/** The changes of a queue from its last whole state on, up to an instant. */
function* readUntil(statements: Statements, queueId: QueueId, at: Instant): Operation<readonly Change[]> {
  const pack = yield* first(statements.findPack, { queueId, at });
  const packed = pack === undefined ? [] : readChanges(pack.data, (moment) => moment.at <= at);
  // Commits after the pack matter only if all of it is from before.
  const isAll = pack === undefined || packed.at(-1)?.version === pack.until_version;
  const after = { queueId, afterVersion: pack?.until_version ?? 0, version: Number.MAX_SAFE_INTEGER, at };
  const changes = [...packed, ...(isAll ? yield* all(statements.listChanges, after) : [])];
  // Commits from before the begin of the past have nothing to be applied to.
  return changes[0] !== undefined && (pack !== undefined || isWhole(changes[0])) ? changes : [];
}

function* load(statements: Statements, queueId: QueueId, at: Instant): Operation<PastQueue | undefined> {
  const row = yield* first(statements.findAnyQueue, { queueId });
  if (at < (yield* findHorizon(statements))) return undefined;
  const changes = yield* readUntil(statements, queueId, at);
  if (row === undefined || changes.length === 0) return undefined;
  const folded = new Folded(queueId, changes);
  const { version, body } = folded;
  const rows = folded.liveRows();
  const digests = new Set(rows.entries.flatMap(({ targetsDigest }) => targetsDigest ?? []));
  const targetSets: readonly TargetSetRow[] =
    digests.size === 0 ? [] : (yield* allOf(statements.findTargetSets({}, [...digests]))).map((row) => ({ ...row }));
  const snapshot: QueueSnapshot = { queue: { ...toQueue(row), version, body }, ...rows, targetSets };
  return { version, at: folded.at, snapshot, reading: folded };
}

/** The instant to which retention has come. Packs reach back further, and the facts beside them are gone. */
function* findHorizon(statements: Statements): Operation<Instant> {
  return Number((yield* first(statements.findHorizon, {}))?.value ?? Number.MIN_SAFE_INTEGER);
}

function* findBegin(statements: Statements, queueId: QueueId): Operation<Moment | undefined> {
  const horizon = yield* findHorizon(statements);
  const pack = yield* first(statements.findFirstPack, { queueId });
  if (pack !== undefined) return { version: pack.version, at: Math.max(pack.at, horizon) };
  const line = yield* first(statements.findFirstChange, { queueId });
  return line !== undefined && isWhole(line) ? { version: line.version, at: Math.max(line.at, horizon) } : undefined;
}

// SPEC Y10
function* listMoments(statements: Statements, query: MomentQuery): Operation<readonly Moment[]> {
  const { queueId, until = Number.MAX_SAFE_INTEGER, limit } = query;
  const begin = yield* findBegin(statements, queueId);
  if (begin === undefined) return [];
  const from = Math.max(query.from ?? begin.at, begin.at);
  const afterVersion = Math.max(query.afterVersion ?? 0, begin.version - 1);
  const moments: Moment[] = [];
  const take = (lines: readonly Moment[]) => {
    for (const { version, at } of lines) {
      const isNew = version > (moments.at(-1)?.version ?? afterVersion);
      if (isNew && at >= from && at <= until && moments.length < limit) moments.push({ version, at });
    }
  };
  for (let next = afterVersion; moments.length < limit; ) {
    const pack = yield* first(statements.findPackAfter, { queueId, version: next, from });
    if (pack === undefined || pack.at > until) break;
    take(readChanges(pack.data));
    next = pack.until_version;
  }
  const unpacked = { queueId, afterVersion: moments.at(-1)?.version ?? afterVersion, from, until };
  take(yield* all(statements.listUnpackedMoments, { ...unpacked, limit }));
  return moments;
}

function rowReads(engine: SqlEngine, statements: Statements) {
  const entryAt = (place: PastPlace, prNumber: number) => rowAt<EntryRow>(statements, place, keyOfEntry(prNumber));
  return {
    findEntries: (place, prNumbers) =>
      engine.snapshot(function* () {
        const { queueId, version } = place;
        const present = (yield* allOf(statements.findEntries({ queueId }, [...new Set(prNumbers)]))).map(toEntry);
        const rows: EntryRow[] = [];
        const lost: number[] = [];
        for (const row of present) {
          const then = row.version <= version ? row : yield* entryAt(place, row.prNumber);
          if (then !== undefined) rows.push(then);
          else if (yield* wasSubmitted(statements, place, row.prNumber)) lost.push(row.prNumber);
        }
        return { rows, lost };
      }),
    findCandidate: (place, number) =>
      engine.snapshot(function* () {
        const { queueId, version } = place;
        const row = yield* findRow(statements.findCandidate, { queueId, number }, toCandidate);
        if (row === undefined || row.version <= version) return row;
        return yield* rowAt<CandidateRow>(statements, place, keyOfCandidate(number));
      }),
    findImpactedTargets: (place, prNumber, sha) =>
      engine.snapshot(function* () {
        const { queueId } = place;
        const then = yield* rowAt<ImpactedTargetsRow>(statements, place, keyOfTargets(prNumber, sha));
        if (then !== undefined) return then;
        // Uploaded before the begin of the past, and never again.
        const begin = yield* findBegin(statements, queueId);
        const row = yield* findRow(statements.findImpactedTargets, { queueId, prNumber, sha }, toImpactedTargets);
        return row !== undefined && row.setAt < (begin?.at ?? 0) ? row : undefined;
      }),
  } satisfies Partial<PastStore>;
}

function* wasSubmitted(statements: Statements, place: PastPlace, prNumber: number): Operation<boolean> {
  return (
    (yield* first(statements.findTransition, { queueId: place.queueId, version: place.version, prNumber })) !==
    undefined
  );
}

/** The row as its last change at or before the version left it, which may be in a pack of long before. */
function* rowAt<Row>(
  statements: Statements,
  { queueId, reading }: PastPlace,
  key: PastKey,
): Operation<Row | undefined> {
  const row = reading.find<Row>(key);
  if (row !== undefined) return row;
  const earlier = yield* first(statements.findKey, { queueId, key, before: reading.begin });
  if (earlier === undefined) return undefined;
  const pack = yield* first(statements.getPack, { queueId, version: earlier.version });
  return pack && new Folded(queueId, readChanges(pack.data)).find<Row>(key);
}

/** Stored commits never change, so a pack is made outside of a transaction: it takes a tenth of a second. */
// SPEC Y7
async function pack(engine: SqlEngine, statements: Statements, queueId: QueueId, of: Packing): Promise<number> {
  const { bytes, before, now } = of;
  const { latest, sizes, isBegun } = await engine.snapshot(() => findUnpacked(statements, queueId));
  if (!isBegun) return engine.write(() => beginPast(statements, queueId, now));
  const whole = latest === undefined ? [] : [await wholeAfter(queueId, latest)];
  const isOld = (sizes[0]?.at ?? before) < before;
  const enough = takeBytes(sizes, Math.max(bytes, WHOLE_SHARE * (whole[0]?.body.length ?? 0)));
  const version = enough ?? (isOld ? sizes.at(-1)?.version : undefined);
  if (version === undefined) return 0;
  const range = { queueId, afterVersion: latest?.until_version ?? 0, version, at: Number.MAX_SAFE_INTEGER };
  const lines = [...whole, ...(await engine.read(() => all(statements.listChanges, range)))];
  const data = await compressAside(lines);
  const { changed } = new Folded(queueId, lines);
  await setImmediate();
  const digests = digestsOf(lines);
  await setImmediate();
  return engine.write(() => storePack(statements, queueId, { lines, data, changed, digests }));
}

function* findUnpacked(statements: Statements, queueId: QueueId) {
  const latest = yield* first(statements.findPack, { queueId, at: Number.MAX_SAFE_INTEGER });
  const sizes = yield* all(statements.listChangeSizes, { queueId, afterVersion: latest?.until_version ?? 0 });
  const isBegun = latest !== undefined || (yield* findBegin(statements, queueId)) !== undefined;
  return { latest, sizes, isBegun };
}

/** Most of a pack is what changed: a smaller one would mostly repeat rows that did not. */
const WHOLE_SHARE = 4;

async function wholeAfter(queueId: QueueId, { data }: Schema['queue_packs']): Promise<Change> {
  const folded = new Folded(queueId, await readChangesAside(data));
  const { version, at, body } = folded;
  await setImmediate();
  return { version, at, body: encodeWhole({ body, ...folded.liveRows() }, { version, at }) };
}

/** The version of the change that makes up so many bytes; undefined if all together are fewer. */
function takeBytes(changes: readonly { readonly version: number; readonly size: number }[], bytes: number) {
  let sum = 0;
  return changes.find(({ size }) => {
    sum += size;
    return sum >= bytes;
  })?.version;
}

interface NewPack {
  readonly lines: readonly Change[];
  readonly data: Uint8Array;
  readonly changed: ReadonlySet<string>;
  readonly digests: ReadonlySet<string>;
}

function* storePack(statements: Statements, queueId: QueueId, pack: NewPack): Operation<number> {
  const { lines, data, changed, digests } = pack;
  const [begin] = lines;
  const last = lines.at(-1);
  if (begin === undefined || last === undefined || lines.length < 2) return 0;
  const row = { version: begin.version, until_version: last.version, at: begin.at, until_at: last.at };
  // Another server may pack the same commits.
  if ((yield* execute(statements.insertPack, { queue_id: queueId, ...row, data })) === 0) return 0;
  const keys = [...changed].map((key) => ({ queue_id: queueId, key, version: begin.version }));
  yield* executeAll([
    ...statements.insertKeys(keys),
    ...[...digests].map((digest) => callOf(statements.renewTargetSet, { digest, at: last.at })),
    callOf(statements.removeChanges, { queueId, version: last.version }),
  ]);
  return lines.length;
}

// SPEC Y8
function* beginPast(statements: Statements, queueId: QueueId, now: Instant): Operation<number> {
  const row = yield* first(statements.lockQueue, { queueId });
  if (row === undefined || (yield* findBegin(statements, queueId)) !== undefined) return 0;
  const entries = (yield* all(statements.loadLiveEntries, { queueId })).map(toEntry);
  const candidates = (yield* all(statements.loadLiveCandidates, { queueId })).map(toCandidate);
  const at = Math.max(row.last_at, now);
  const { version } = row;
  const body = encodeWhole({ body: row.body, entries, candidates }, { version, at });
  const data = compressChanges([{ version, at, body }]);
  yield* execute(statements.insertPack, { queue_id: queueId, version, until_version: version, at, until_at: at, data });
  yield* execute(statements.removeChanges, { queueId, version });
  return 1;
}
