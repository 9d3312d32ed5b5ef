import type { App } from './app.ts';
import { type Caller, mayManage } from './caller.ts';
import { type Refusal, refuse } from './refusal.ts';

export async function revokeApiToken(
  app: App,
  caller: Caller,
  input: { readonly id: string },
): Promise<Record<string, never> | Refusal> {
  const { accounts } = app.store;
  const tokens = await accounts.listTokens(caller.organization.id);
  const isManaged = tokens.some((token) => token.id === input.id && mayManage(caller, token));
  if (!isManaged) return refuse('TOKEN_NOT_FOUND', `This organization has no token with the id ${input.id}.`);
  await accounts.revokeToken(caller.organization.id, input.id, app.clock.now());
  app.auth.forget();
  return {};
}
