import type { App } from '../core/app.ts';
import { type Caller, hasScope, mayManage } from '../core/caller.ts';
import { type Refusal, refuse } from '../core/refusal.ts';

// SPEC A11
export async function revokeApiToken(
  app: App,
  caller: Caller,
  input: { readonly id: string },
): Promise<Record<string, never> | Refusal> {
  const { accounts } = app.store;
  const tokens = await accounts.listTokens(caller.organization.id);
  const token = tokens.find(({ id }) => id === input.id);
  if (token === undefined || !mayManage(caller, token)) {
    return refuse('TOKEN_NOT_FOUND', `This organization has no token with the id ${input.id}.`);
  }
  if (token.scopes.includes('instance') && !hasScope(caller, 'instance')) {
    return refuse('INSUFFICIENT_SCOPE', 'Only a token with the scope "instance" can revoke another one with it.');
  }
  await accounts.revokeToken(caller.organization.id, input.id, app.clock.now());
  app.auth.forget();
  return {};
}
