import { assert } from '../../lib/assert.ts';
import type { TestChange } from '../test-ingest.ts';
import { horizonOf, type Upload, type UploadOutcome, type UploadStore } from '../uploads.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState, MemoryUpload } from './state.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const ENDED: readonly Upload['status'][] = ['PROCESSED', 'SKIPPED', 'FAILED'];

export function createMemoryUploads(state: MemoryState): UploadStore {
  const { uploads, leases } = state;
  return {
    ...bodyOperations(state),
    ...listOperations(state),
    create: async (upload, sameSince) => create(state, frozenCopy(upload), sameSince),
    async accept(id, body) {
      const upload = uploads.get(id);
      if (upload?.row.status !== 'PENDING') return false;
      const { bodyId, files, sizeBytes, at } = frozenCopy(body);
      upload.no = nextNo(state, upload.row.repositoryId);
      change(upload, { status: 'ACCEPTED', bodyId, files, sizeBytes, receivedAt: at });
      return true;
    },
    find: async (id) => uploads.get(id)?.row,
    claim: async (holder, now, leaseUntil, of) => {
      const [next] = findHeads(state, { holder, now, leaseUntil }).filter(
        ({ row }) => of === undefined || row.repositoryId === of,
      );
      if (next !== undefined) leases.set(next.row.repositoryId, { holder, until: leaseUntil });
      return next?.row;
    },
    listClaimable: async (holder, now, leaseUntil) =>
      findHeads(state, { holder, now, leaseUntil }).map(({ row: { repositoryId } }) => ({
        repositoryId,
        organizationId: state.repositories.get(repositoryId)?.organizationId ?? null,
      })),
    async renew(holder, repositoryId, leaseUntil) {
      if (leases.get(repositoryId)?.holder !== holder) return false;
      leases.set(repositoryId, { holder, until: leaseUntil });
      return true;
    },
    async release(holder, repositoryId) {
      if (leases.get(repositoryId)?.holder === holder) leases.delete(repositoryId);
    },
    async delay(id, { trouble, retryAt }) {
      const upload = uploads.get(id);
      if (upload?.row.status !== 'ACCEPTED') return;
      upload.retryAt = retryAt;
      change(upload, { trouble, attempts: upload.row.attempts + 1 });
    },
    async finish(outcome) {
      if (uploads.get(outcome.uploadId)?.row.status === 'ACCEPTED') setOutcome(state, frozenCopy(outcome));
    },
    async processAgain(id) {
      const upload = uploads.get(id);
      if (upload === undefined || !ENDED.includes(upload.row.status) || upload.row.bodyId === null) return false;
      upload.retryAt = null;
      change(upload, { status: 'ACCEPTED', processedAt: null, attempts: 0, trouble: null });
      return true;
    },
    listToRecount: async () =>
      [...uploads.values()]
        .filter(({ isToRecount }) => isToRecount)
        .map(({ row }) => row)
        .sort((a, b) => compareText(a.id, b.id)),
    async markRecounted(id) {
      const upload = uploads.get(id);
      if (upload !== undefined) upload.isToRecount = false;
    },
    tidy: async (of) => tidy(state, of),
  };
}

/** What is not known now stays as it was. */
export function setOutcome({ uploads }: MemoryState, outcome: UploadOutcome): void {
  const upload = uploads.get(outcome.uploadId);
  if (upload === undefined) return;
  const { uploadId: _, ...values } = outcome;
  const { row } = upload;
  upload.retryAt = null;
  change(upload, {
    ...values,
    fields: values.fields ?? row.fields,
    flaw: values.flaw ?? row.flaw,
    counts: values.counts ?? row.counts,
    trouble: null,
  });
}

/** Of an ended one that nobody took back before. */
export function setIgnored(
  { uploads }: MemoryState,
  { uploadId, ...ignored }: NonNullable<TestChange['ignore']>,
): void {
  const upload = uploads.get(uploadId);
  if (upload === undefined || upload.row.ignored !== null || !['PROCESSED', 'SKIPPED'].includes(upload.row.status))
    return;
  upload.isToRecount = true;
  change(upload, { ignored, status: 'SKIPPED', flaw: 'IGNORED' });
}

function change(upload: MemoryUpload, values: Partial<Upload>): void {
  upload.row = Object.freeze({ ...upload.row, ...values });
}

function bodyOperations({ bodies }: MemoryState): Pick<UploadStore, 'appendBody' | 'readBody' | 'removeBody'> {
  return {
    async appendBody(bodyId, fileNo, bytes, at) {
      if (bytes.length === 0) return;
      const body = bodies.get(bodyId) ?? { pieces: [], lastAt: at };
      body.pieces.push({ fileNo, bytes: new Uint8Array(bytes) });
      body.lastAt = at;
      bodies.set(bodyId, body);
    },
    async *readBody(bodyId, fileNo) {
      for (const piece of bodies.get(bodyId)?.pieces ?? []) if (piece.fileNo === fileNo) yield piece.bytes;
    },
    async removeBody(bodyId) {
      bodies.delete(bodyId);
    },
  };
}

function listOperations(state: MemoryState): Pick<UploadStore, 'getWatermark' | 'list' | 'hasWaiting' | 'measure'> {
  return {
    getWatermark: async (repositoryId) => state.uploadNumbers.get(repositoryId) ?? 0,
    async list({ repositoryId, watermark, offset, limit }) {
      const accepted = [...state.uploads.values()]
        .filter(({ row, no }) => row.repositoryId === repositoryId && no > 0 && no <= watermark)
        .sort((a, b) => b.no - a.no);
      return { totalRows: accepted.length, uploads: accepted.slice(offset, offset + limit).map(({ row }) => row) };
    },
    hasWaiting: async (repositoryId, candidateId, check) =>
      waiting(state).some(
        ({ row }) =>
          row.repositoryId === repositoryId && row.fields?.candidateId === candidateId && row.fields.check === check,
      ),
    async measure() {
      const received = waiting(state).map(({ row }) => row.receivedAt);
      return { waiting: received.length, oldestAt: received.length === 0 ? null : Math.min(...received) };
    },
  };
}

function waiting({ uploads }: MemoryState): MemoryUpload[] {
  return [...uploads.values()].filter(({ row }) => row.status === 'ACCEPTED').sort((a, b) => a.no - b.no);
}

function create(state: MemoryState, upload: Upload, sameSince: number): Upload {
  const { repositoryId, digest } = upload;
  assert(state.repositories.has(repositoryId), `there is no repository ${repositoryId}`);
  const same = [...state.uploads.values()]
    .map(({ row }) => row)
    .filter((row) => row.repositoryId === repositoryId && digest !== null && row.digest === digest)
    .filter((row) => row.receivedAt > sameSince)
    .sort((a, b) => b.receivedAt - a.receivedAt)[0];
  if (same !== undefined) return same;
  assert(!state.uploads.has(upload.id), `there is already an upload ${upload.id}`);
  const no = upload.status === 'PENDING' ? 0 : nextNo(state, repositoryId);
  state.uploads.set(upload.id, { row: upload, no, retryAt: null, isToRecount: false });
  return upload;
}

function nextNo({ uploadNumbers }: MemoryState, repositoryId: string): number {
  const no = (uploadNumbers.get(repositoryId) ?? 0) + 1;
  uploadNumbers.set(repositoryId, no);
  return no;
}

/** Only the first of each repository: one in trouble holds up those behind it. */
interface Claim {
  readonly holder: string;
  readonly now: number;
  readonly leaseUntil: number;
}

/** The first of each repository that is free, the one that waits longest first. */
function findHeads(state: MemoryState, { holder, now, leaseUntil }: Claim): readonly MemoryUpload[] {
  const heads = new Map<string, MemoryUpload>();
  for (const upload of waiting(state).reverse()) heads.set(upload.row.repositoryId, upload);
  const isFree = (repositoryId: string) => {
    const lease = state.leases.get(repositoryId);
    if (lease === undefined || lease.holder === holder) return true;
    return lease.until <= now || lease.until > horizonOf(now, leaseUntil);
  };
  return [...heads.values()]
    .filter(({ row, retryAt }) => isFree(row.repositoryId) && (retryAt === null || retryAt <= now))
    .sort((a, b) => a.row.receivedAt - b.row.receivedAt);
}

function tidy(state: MemoryState, of: Parameters<UploadStore['tidy']>[0]): number {
  const { uploads, bodies } = state;
  let removed = 0;
  const dropBody = (upload: MemoryUpload) => {
    bodies.delete(upload.row.bodyId ?? '');
    change(upload, { bodyId: null });
    removed += 1;
  };
  const ended = [...uploads.values()]
    .filter(({ row }) => ENDED.includes(row.status) && bodies.has(row.bodyId ?? ''))
    .sort((a, b) => a.row.receivedAt - b.row.receivedAt || compareText(a.row.id, b.row.id));
  for (const upload of ended) {
    if (upload.row.receivedAt < of.bodiesBefore || sizeOf(state) > of.maxBytes) dropBody(upload);
  }
  for (const { row } of [...uploads.values()]) {
    const isForgotten = ENDED.includes(row.status) && row.receivedAt < of.uploadsBefore;
    if (!isForgotten && !(row.status === 'PENDING' && row.receivedAt < of.now - DAY_MS)) continue;
    uploads.delete(row.id);
    removed += 1;
  }
  const named = new Set([...uploads.values()].map(({ row }) => row.bodyId));
  for (const [id, { lastAt }] of [...bodies]) {
    if (named.has(id) || lastAt >= of.now - HOUR_MS) continue;
    bodies.delete(id);
    removed += 1;
  }
  return removed;
}

function sizeOf({ bodies }: MemoryState): number {
  const pieces = [...bodies.values()].flatMap((body) => body.pieces);
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
