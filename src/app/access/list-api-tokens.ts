import type { App } from '../core/app.ts';
import { type Caller, mayManage } from '../core/caller.ts';
import { type TokenView, viewToken } from './token-view.ts';

export async function listApiTokens(app: App, caller: Caller): Promise<{ readonly tokens: readonly TokenView[] }> {
  const tokens = await app.store.accounts.listTokens(caller.organization.id);
  const repositories = await app.store.repositories.list(caller.organization.id);
  return { tokens: tokens.filter((token) => mayManage(caller, token)).map((token) => viewToken(token, repositories)) };
}
