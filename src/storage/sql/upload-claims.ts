import type { OrganizationId } from '../accounts.ts';
import type { RepositoryId } from '../repositories.ts';
import { horizonOf, type Upload, type UploadWorkStore } from '../uploads.ts';
import { heldRows } from './leased-work.ts';
import { all, changes, execute, first, type Operation, run, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';
import { toUpload } from './upload-rows.ts';
import { IS_WAITING } from './upload-statements.ts';

type Statements = ReturnType<typeof claimStatements>;

interface Claim {
  readonly holder: string;
  readonly now: number;
  readonly leaseUntil: number;
  /** Leases beyond it are those of a clock that goes wrong. */
  readonly horizon: number;
}

interface Wanted extends Claim {
  /** Undefined: whichever waits longest. */
  readonly of: string | undefined;
}

/** Others may be faster this often; then there is enough work for all, and the next claim will do. */
const MAX_TRIES = 8;
/** A lease with less than this part of its time left is taken anew. */
const GOOD_FOR = 0.75;

export function createClaims(
  engine: SqlEngine,
  compiler: StatementCompiler,
): Pick<UploadWorkStore, 'claim' | 'listClaimable' | 'renew' | 'release'> {
  const statements = claimStatements(compiler);
  return {
    // SPEC D8
    async claim(holder, now, leaseUntil, of) {
      const wanted = { holder, now, leaseUntil, of, horizon: horizonOf(now, leaseUntil) };
      // A write would hold up others: there is none where nothing waits, nor for each of many small uploads.
      const known = await engine.snapshot(() => claimHeld(statements, wanted));
      return known === 'not held' ? engine.write(() => claim(statements, wanted)) : known;
    },
    listClaimable: (holder, now, leaseUntil) =>
      engine.read(function* () {
        const rows = yield* all(statements.listClaimable, { holder, now, horizon: horizonOf(now, leaseUntil) });
        return rows.map(({ repository_id, organization_id }) => ({
          repositoryId: repository_id as RepositoryId,
          organizationId: organization_id as OrganizationId | null,
        }));
      }),
    renew: (holder, repositoryId, leaseUntil) =>
      engine.write(() => changes(statements.renew, { holder, repository_id: repositoryId, leaseUntil })),
    release: (holder, repositoryId) =>
      engine.write(() => run(statements.release, { holder, repository_id: repositoryId })),
  };
}

function* findRepository(statements: Statements, { of, ...claim }: Wanted): Operation<string | undefined> {
  return of ?? (yield* all(statements.listClaimable, claim))[0]?.repository_id;
}

/** A lease that has been taken a moment ago is good for the next upload, too. */
function* claimHeld(statements: Statements, of: Wanted): Operation<Upload | 'not held' | undefined> {
  const repositoryId = yield* findRepository(statements, of);
  const row = repositoryId === undefined ? undefined : yield* first(statements.findHead, { repositoryId });
  if (repositoryId === undefined || row === undefined || !isDue(row, of)) return undefined;
  const lease = yield* first(statements.findLease, { repositoryId });
  if (lease?.lease_holder !== of.holder || lease.lease_until - of.now < (of.leaseUntil - of.now) * GOOD_FOR)
    return 'not held';
  return toUpload(row);
}

/**
 * Between finding an upload and having the lease of its repository, another may have had the lease and processed it:
 * with the lease the repository is looked at again.
 */
function* claim(statements: Statements, of: Wanted): Operation<Upload | undefined> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const repositoryId = yield* findRepository(statements, of);
    if (repositoryId === undefined) return undefined;
    if ((yield* first(statements.lease, { ...of, repositoryId })) === undefined) {
      if (of.of !== undefined) return undefined;
      continue;
    }
    const row = yield* first(statements.findHead, { repositoryId });
    if (row !== undefined && isDue(row, of)) return toUpload(row);
    yield* execute(statements.release, { holder: of.holder, repository_id: repositoryId });
    if (of.of !== undefined) return undefined;
  }
  return undefined;
}

/** One in trouble holds up those behind it. */
function isDue({ retry_at }: { readonly retry_at: number | null }, { now }: Claim): boolean {
  return retry_at === null || retry_at <= now;
}

export function claimStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  const held = heldRows<{ repository_id: string }>(compiler, { table: 'ingest_leases', key: ['repository_id'] });
  return {
    listClaimable: listClaimable(compiler),
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
        .select(['lease_holder', 'lease_until'])
        .where('repository_id', '=', param('repositoryId')),
    ),
    lease: compiler.statement<Claim & { repositoryId: string }>()((param) =>
      builder
        .insertInto('ingest_leases')
        .values({
          repository_id: param('repositoryId'),
          lease_holder: param('holder'),
          lease_until: param('leaseUntil'),
        })
        .onConflict((conflict) =>
          conflict
            .column('repository_id')
            .doUpdateSet((eb) => ({
              lease_holder: eb.ref('excluded.lease_holder'),
              lease_until: eb.ref('excluded.lease_until'),
            }))
            .where((eb) =>
              eb.or([
                eb('ingest_leases.lease_until', '<=', param('now')),
                eb('ingest_leases.lease_until', '>', param('horizon')),
                eb('ingest_leases.lease_holder', '=', eb.ref('excluded.lease_holder')),
              ]),
            ),
        )
        .returning('repository_id'),
    ),
    renew: held.update<{ leaseUntil: number }>((param) => ({ lease_until: param('leaseUntil') })),
    release: held.remove(),
  };
}

/** By the first upload of each repository that is free, so that one in trouble holds up those behind it. */
function listClaimable(compiler: StatementCompiler) {
  return compiler.statement<Omit<Claim, 'leaseUntil'>>()((param) =>
    compiler.dialect.builder
      .selectFrom((eb) =>
        eb
          .selectFrom('uploads')
          .select((head) => ['repository_id', head.fn.min('no').as('no')])
          .where(IS_WAITING)
          .groupBy('repository_id')
          .as('heads'),
      )
      .innerJoin('uploads', (join) =>
        join.onRef('uploads.repository_id', '=', 'heads.repository_id').onRef('uploads.no', '=', 'heads.no'),
      )
      .leftJoin('repositories', 'repositories.id', 'uploads.repository_id')
      .select(['uploads.repository_id', 'repositories.organization_id'])
      .where((eb) => eb.or([eb('uploads.retry_at', 'is', null), eb('uploads.retry_at', '<=', param('now'))]))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('ingest_leases')
              .select('ingest_leases.lease_holder')
              .whereRef('ingest_leases.repository_id', '=', 'uploads.repository_id')
              .where('ingest_leases.lease_until', '>', param('now'))
              .where('ingest_leases.lease_until', '<=', param('horizon'))
              .where('ingest_leases.lease_holder', '<>', param('holder')),
          ),
        ),
      )
      .orderBy('uploads.received_at'),
  );
}
