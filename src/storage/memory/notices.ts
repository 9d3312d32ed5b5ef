import type { HintClaim, HintKey, HintRow, HintSettlement, HintStore, StoredHint } from '../hints.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryNotice, MemoryState } from './state.ts';

export function createMemoryNotices({ notices }: MemoryState): HintStore {
  const waiting = () => [...notices.values()].filter(({ rememberedUntil }) => rememberedUntil === undefined);
  return {
    async add(rows) {
      const kept = latestOfEach(frozenCopy(rows));
      return kept.filter((row) => add(notices, row)).length;
    },
    async ensure(row) {
      const kept = frozenCopy(row);
      const notice = notices.get(nameOf(kept));
      if (notice === undefined) notices.set(nameOf(kept), fresh(kept));
      else if (notice.rememberedUntil === undefined) {
        const version = notice.row.version + (notice.lease === undefined ? 0 : 1);
        change(notice, { dueAt: Math.min(notice.row.dueAt, kept.dueAt), version });
      }
    },
    claim: async (claim) => claimSome(waiting(), frozenCopy(claim)),
    async settle({ host, key, version }, holder, settlement) {
      const notice = notices.get(nameOf({ host, key }));
      if (notice?.lease?.holder !== holder) return 'lost';
      notice.lease = undefined;
      return settle(notices, notice, { version, settlement: frozenCopy(settlement) });
    },
    async renewLeases(holder, keys, until) {
      for (const each of keys) {
        const notice = notices.get(nameOf(each));
        if (notice?.lease?.holder === holder) notice.lease = { holder, until };
      }
    },
    async findNextDueAt() {
      const instants = waiting().map(({ row, lease }) => Math.max(row.dueAt, lease?.until ?? row.dueAt));
      return instants.length === 0 ? undefined : Math.min(...instants);
    },
    countOverdue: async (before) => waiting().filter(({ row }) => row.dueAt < before).length,
    async countDue(now) {
      const due = waiting().filter(({ row }) => row.dueAt <= now);
      return [...Map.groupBy(due, ({ row }) => row.host)].map(([host, some]) => ({
        host,
        count: some.length,
        oldestDueAt: Math.min(...some.map(({ row }) => row.dueAt)),
      }));
    },
    async tidy(now) {
      const old = [...notices.values()].filter(({ rememberedUntil }) => (rememberedUntil ?? now) < now);
      for (const { row } of old) notices.delete(nameOf(row));
      return old.length;
    },
    async endLeases(holder) {
      const ended = waiting().filter(
        ({ lease }) => lease !== undefined && (holder === undefined || lease.holder === holder),
      );
      for (const notice of ended) notice.lease = undefined;
      return ended.length;
    },
  };
}

/** Several of one key in one call: the last body, and the earliest due time. */
function latestOfEach(rows: readonly HintRow[]): HintRow[] {
  return [...Map.groupBy(rows, nameOf).values()].map((same) => ({
    ...(same.at(-1) as HintRow),
    dueAt: Math.min(...same.map(({ dueAt }) => dueAt)),
  }));
}

function add(notices: MemoryState['notices'], row: HintRow): boolean {
  const notice = notices.get(nameOf(row));
  if (notice === undefined) notices.set(nameOf(row), fresh(row));
  else if (notice.rememberedUntil !== undefined && notice.rememberedUntil >= row.receivedAt) return false;
  else {
    const { body, receivedAt, dueAt, version } = notice.row;
    const isForgotten = notice.rememberedUntil !== undefined;
    notice.rememberedUntil = undefined;
    change(notice, {
      ...row,
      receivedAt: !isForgotten && row.body === body ? receivedAt : row.receivedAt,
      dueAt: isForgotten ? row.dueAt : Math.min(dueAt, row.dueAt),
      version: version + 1,
    });
  }
  return true;
}

function claimSome(
  waiting: readonly MemoryNotice[],
  { holder, now, leaseUntil, limit }: HintClaim,
): readonly StoredHint[] {
  const claimed = waiting
    .filter(({ row, lease }) => row.dueAt <= now && (lease === undefined || lease.until <= now))
    .sort(({ row: a }, { row: b }) => a.dueAt - b.dueAt || compareText(a.host, b.host) || compareText(a.key, b.key))
    .slice(0, limit);
  for (const notice of claimed) notice.lease = { holder, until: leaseUntil };
  return claimed.map(({ row }) => row);
}

interface Settling {
  readonly version: number;
  readonly settlement: HintSettlement;
}

function settle(
  notices: MemoryState['notices'],
  notice: MemoryNotice,
  { version, settlement }: Settling,
): 'settled' | 'again' {
  const wasToldAgain = notice.row.version !== version;
  const { attempts } = notice.row;
  if (settlement.kind === 'remember') {
    notice.rememberedUntil = settlement.until;
    change(notice, { attempts: 0 });
  } else if (settlement.kind === 'later' && settlement.isFailure) {
    change(notice, { dueAt: settlement.dueAt, attempts: attempts + 1 });
  } else if (wasToldAgain) {
    const body = settlement.kind === 'later' ? settlement.body : undefined;
    change(notice, { attempts: 0, body: body ?? notice.row.body });
    return 'again';
  } else if (settlement.kind === 'later') {
    change(notice, { dueAt: settlement.dueAt, attempts: 0, body: settlement.body ?? notice.row.body });
  } else notices.delete(nameOf(notice.row));
  return 'settled';
}

function fresh(row: HintRow): MemoryNotice {
  return {
    row: Object.freeze({ ...row, version: 1, attempts: 0 }),
    lease: undefined,
    rememberedUntil: undefined,
  };
}

function change(notice: MemoryNotice, values: Partial<StoredHint>): void {
  notice.row = Object.freeze({ ...notice.row, ...values });
}

function nameOf({ host, key }: HintKey): string {
  return JSON.stringify([host, key]);
}
