import type { OrganizationId } from '../accounts.ts';
import type { RepositoryId } from '../repositories.ts';
import { horizonOf, type Upload, type UploadWorkStore } from '../uploads.ts';
import { all, changes, execute, findRow, first, type Operation, run, type SqlEngine } from './operation.ts';
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
): Pick<UploadWorkStore, 'claim' | 'findSecond' | 'listClaimable' | 'renew' | 'release'> {
  const statements = claimStatements(compiler);
  return {
    // SPEC D8
    async claim(holder, now, leaseUntil, of) {
      const wanted = { holder, now, leaseUntil, of, horizon: horizonOf(now, leaseUntil) };
      // A write would hold up others: there is none where nothing waits, nor for each of many small uploads.
      const known = await engine.snapshot(() => claimHeld(statements, wanted));
      return known === 'not held' ? engine.write(() => claim(statements, wanted)) : known;
    },
    findSecond: (repositoryId) => engine.read(() => findRow(statements.findSecond, { repositoryId }, toUpload)),
    listClaimable: (holder, now, leaseUntil) =>
      engine.read(function* () {
        const rows = yield* all(statements.listClaimable, { holder, now, horizon: horizonOf(now, leaseUntil) });
        return rows.map(({ repository_id, organization_id }) => ({
          repositoryId: repository_id as RepositoryId,
          organizationId: organization_id as OrganizationId | null,
        }));
      }),
    renew: (holder, repositoryId, leaseUntil) =>
      engine.write(() => changes(statements.renew, { holder, repositoryId, leaseUntil })),
    release: (holder, repositoryId) => engine.write(() => run(statements.release, { holder, repositoryId })),
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

/** Before the lease, another may have processed it: with the lease the repository is looked at again. */
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
    yield* execute(statements.release, { holder: of.holder, repositoryId });
    if (of.of !== undefined) return undefined;
  }
  return undefined;
}

/** One in trouble holds up those behind it. */
function isDue({ retry_at }: { readonly retry_at: number | null }, { now }: Claim): boolean {
  return retry_at === null || retry_at <= now;
}

const HELD = 'repository_id = :repositoryId and lease_holder = :holder';

export function claimStatements({ sql }: StatementCompiler) {
  return {
    /** By the first upload of each repository that is free, so that one in trouble holds up those behind it. */
    listClaimable: sql(`
      select uploads.repository_id, repositories.organization_id
      from (select repository_id, min(no) as no from uploads where ${IS_WAITING} group by repository_id) as heads
      join uploads on uploads.repository_id = heads.repository_id and uploads.no = heads.no
      left join repositories on repositories.id = uploads.repository_id
      where (uploads.retry_at is null or uploads.retry_at <= :now) and not exists (
        select lease_holder from ingest_leases where ingest_leases.repository_id = uploads.repository_id
        and lease_until > :now and lease_until <= :horizon and lease_holder <> :holder)
      order by uploads.received_at`),
    findHead: sql(`select * from uploads where repository_id = :repositoryId and ${IS_WAITING} order by no limit 1`),
    findSecond: sql(`
      select * from uploads where repository_id = :repositoryId and ${IS_WAITING} order by no limit 1 offset 1`),
    findLease: sql('select lease_holder, lease_until from ingest_leases where repository_id = :repositoryId'),
    lease: sql(`
      insert into ingest_leases (repository_id, lease_holder, lease_until) values (:repositoryId, :holder, :leaseUntil)
      on conflict (repository_id) do update set
        lease_holder = excluded.lease_holder, lease_until = excluded.lease_until
      where ingest_leases.lease_until <= :now or ingest_leases.lease_until > :horizon
        or ingest_leases.lease_holder = excluded.lease_holder
      returning repository_id`),
    renew: sql(`update ingest_leases set lease_until = :leaseUntil where ${HELD}`),
    release: sql(`delete from ingest_leases where ${HELD}`),
  };
}
