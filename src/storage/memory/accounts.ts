import { assert } from '../../lib/assert.ts';
import type { AccountStore, Token } from '../accounts.ts';
import { frozenCopy } from './frozen-copy.ts';
import { compareText } from './order.ts';
import type { MemoryState } from './state.ts';

export function createMemoryAccounts(state: MemoryState): AccountStore {
  const { organizations, tokens } = state;
  const findBySlug = (slug: string) => organizations.values().find((organization) => organization.slug === slug);
  return {
    async createOrganization(organization, token) {
      const [kept, keptToken] = frozenCopy([organization, token] as const);
      if (findBySlug(organization.slug) !== undefined) return 'slug_taken';
      assert(!organizations.has(organization.id), `there is already an organization ${organization.id}`);
      assert(token.organizationId === organization.id, 'the first token belongs to its organization');
      checkNewToken(state, token);
      organizations.set(kept.id, kept);
      tokens.set(keptToken.hash, keptToken);
      return 'created';
    },
    findOrganization: async (slug) => findBySlug(slug),
    findOrganizationById: async (id) => organizations.get(id),
    ...memoryTokens(state),
  };
}

function memoryTokens(state: MemoryState) {
  const { organizations, tokens } = state;
  const findById = (id: string) => tokens.values().find((token) => token.id === id);
  return {
    async insertToken(token) {
      const kept = frozenCopy(token);
      assert(organizations.has(token.organizationId), `there is no organization ${token.organizationId}`);
      checkNewToken(state, token);
      tokens.set(token.hash, kept);
    },
    replaceToken: async (token) => replaceToken(state, token),
    async findToken(hash) {
      const token = tokens.get(hash);
      const organization = token && organizations.get(token.organizationId);
      return token && organization && { token, organization };
    },
    listTokens: async (organizationId) =>
      [...tokens.values()]
        .filter((token) => token.organizationId === organizationId)
        .sort((a, b) => a.createdAt - b.createdAt || compareText(a.id, b.id)),
    async revokeToken(organizationId, id, at) {
      const token = findById(id);
      if (token?.organizationId !== organizationId) return false;
      if (token.revokedAt === null) tokens.set(token.hash, Object.freeze({ ...token, revokedAt: at }));
      return true;
    },
    async recordTokenUse(uses) {
      for (const [id, at] of uses) {
        const token = findById(id);
        if (token === undefined || (token.lastUsedAt ?? Number.NEGATIVE_INFINITY) >= at) continue;
        tokens.set(token.hash, Object.freeze({ ...token, lastUsedAt: at }));
      }
    },
  } satisfies Partial<AccountStore>;
}

function checkNewToken({ tokens }: MemoryState, token: Token): void {
  assert(!tokens.has(token.hash), 'there is already a token of this hash');
  assert(!tokens.values().some(({ id }) => id === token.id), `there is already a token ${token.id}`);
}

function replaceToken({ organizations, tokens }: MemoryState, token: Token): void {
  const kept = frozenCopy(token);
  assert(organizations.has(token.organizationId), `there is no organization ${token.organizationId}`);
  for (const other of tokens.values()) {
    const isReplaced =
      other.organizationId === token.organizationId && other.origin === token.origin && other.hash !== token.hash;
    if (!isReplaced || other.revokedAt !== null) continue;
    tokens.set(other.hash, Object.freeze({ ...other, revokedAt: token.createdAt }));
  }
  const before = tokens.get(token.hash);
  if (before === undefined) tokens.set(token.hash, kept);
  else {
    const { id, createdAt, lastUsedAt } = before;
    tokens.set(token.hash, Object.freeze({ ...kept, id, createdAt, lastUsedAt }));
  }
}
