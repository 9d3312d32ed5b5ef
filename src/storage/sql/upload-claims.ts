import { sql } from 'kysely';
import type { RepositoryId } from '../repositories.ts';
import { horizonOf, type Upload, type UploadStore } from '../uploads.ts';
import { execute, first, type Operation, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { toUpload } from './upload-rows.ts';
import { IS_WAITING } from './upload-statements.ts';

type Statements = ReturnType<typeof claimStatements>;

interface Claim {
  readonly holder: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Empty: none. */
  readonly except: string;
  /** Leases beyond it are those of a clock that goes wrong. */
  readonly horizon: number;
}

/** Others may be faster this often; then there is enough work for all, and the next claim will do. */
const MAX_TRIES = 8;
/** A lease with less than this part of its time left is taken anew. */
const GOOD_FOR = 0.75;

export function createClaims(
  engine: SqlEngine,
  compiler: StatementCompiler,
): Pick<UploadStore, 'claim' | 'renew' | 'release'> {
  const statements = claimStatements(compiler);
  return {
    async claim(holder, now, leaseUntil, except = '' as RepositoryId) {
      const wanted = { holder, now, leaseUntil, except, horizon: horizonOf(now, leaseUntil) };
      // A write would hold up others: there is none where nothing waits, nor for each of many small uploads.
      const known = await engine.snapshot(() => claimHeld(statements, wanted));
      return known === 'not held' ? engine.write(() => claim(statements, wanted)) : known;
    },
    renew: (holder, repositoryId, leaseUntil) =>
      engine.write(function* () {
        return (yield* execute(statements.renew, { holder, repositoryId, leaseUntil })) > 0;
      }),
    release: (holder, repositoryId) =>
      engine.write(function* () {
        yield* execute(statements.release, { holder, repositoryId });
      }),
  };
}

/** A lease that has been taken a moment ago is good for the next upload, too. */
function* claimHeld(statements: Statements, of: Claim): Operation<Upload | 'not held' | undefined> {
  const found = yield* first(statements.findNext, of);
  if (found === undefined) return undefined;
  const repositoryId = found.repository_id;
  const lease = yield* first(statements.findLease, { repositoryId });
  if (lease?.holder !== of.holder || lease.until - of.now < (of.leaseUntil - of.now) * GOOD_FOR) return 'not held';
  const row = yield* first(statements.findHead, { repositoryId });
  return row && toUpload(row);
}

/**
 * Between finding an upload and having the lease of its repository, another may have had the lease and processed it:
 * with the lease the repository is looked at again.
 */
function* claim(statements: Statements, of: Claim): Operation<Upload | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const found = yield* first(statements.findNext, of);
    if (found === undefined) return undefined;
    const repositoryId = found.repository_id;
    if ((yield* first(statements.lease, { ...of, repositoryId })) === undefined) continue;
    const row = yield* first(statements.findHead, { repositoryId });
    if (row !== undefined && (row.retry_at === null || row.retry_at <= of.now)) return toUpload(row);
    yield* execute(statements.release, { holder: of.holder, repositoryId });
  }
  return undefined;
}

export function claimStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findNext: findNext(compiler),
    findHead: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .selectFrom('uploads')
        .selectAll()
        .where('repository_id', '=', param('repositoryId'))
        .where(IS_WAITING)
        .orderBy('no')
        .limit(1),
    ),
    findLease: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .selectFrom('ingest_leases')
        .select(['holder', 'until'])
        .where('repository_id', '=', param('repositoryId')),
    ),
    lease: compiler.statement<Claim & { repositoryId: string }>()((param) =>
      builder
        .insertInto('ingest_leases')
        .values({ repository_id: param('repositoryId'), holder: param('holder'), until: param('leaseUntil') })
        .onConflict((conflict) =>
          conflict
            .column('repository_id')
            .doUpdateSet((eb) => ({ holder: eb.ref('excluded.holder'), until: eb.ref('excluded.until') }))
            .where((eb) =>
              eb.or([
                eb('ingest_leases.until', '<=', param('now')),
                eb('ingest_leases.until', '>', param('horizon')),
                eb('ingest_leases.holder', '=', eb.ref('excluded.holder')),
              ]),
            ),
        )
        .returning('repository_id'),
    ),
    renew: compiler.statement<{ holder: string; repositoryId: string; leaseUntil: number }>()((param) =>
      builder
        .updateTable('ingest_leases')
        .set({ until: param('leaseUntil') })
        .where('repository_id', '=', param('repositoryId'))
        .where('holder', '=', param('holder')),
    ),
    release: compiler.statement<{ holder: string; repositoryId: string }>()((param) =>
      builder
        .deleteFrom('ingest_leases')
        .where('repository_id', '=', param('repositoryId'))
        .where('holder', '=', param('holder')),
    ),
  };
}

/** The first of its repository, so that one in trouble holds up those behind it, of a repository that is free. */
function findNext(compiler: StatementCompiler) {
  return compiler.statement<Omit<Claim, 'leaseUntil'>>()((param) =>
    compiler.dialect.builder
      .selectFrom('uploads')
      .select('repository_id')
      .where(IS_WAITING)
      .where('uploads.repository_id', '<>', param('except'))
      .where((eb) => eb.or([eb('uploads.retry_at', 'is', null), eb('uploads.retry_at', '<=', param('now'))]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('ingest_leases')
              .select('ingest_leases.holder')
              .whereRef('ingest_leases.repository_id', '=', 'uploads.repository_id')
              .where('ingest_leases.until', '>', param('now'))
              .where('ingest_leases.until', '<=', param('horizon'))
              .where('ingest_leases.holder', '<>', param('holder')),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('uploads as earlier')
              .select('earlier.id')
              .whereRef('earlier.repository_id', '=', 'uploads.repository_id')
              .where(sql<boolean>`earlier.status = 'ACCEPTED'`)
              .whereRef('earlier.no', '<', 'uploads.no'),
          ),
        ),
      )
      .orderBy('received_at')
      .limit(1),
  );
}
