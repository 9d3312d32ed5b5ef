import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { type Refusal, refuse } from './refusal.ts';

export async function revokeApiToken(
  app: App,
  caller: Caller,
  input: { readonly id: string },
): Promise<Record<string, never> | Refusal> {
  const revoked = await app.store.accounts.revokeToken(caller.organization.id, input.id, app.clock.now());
  if (!revoked) return refuse('TOKEN_NOT_FOUND', `This organization has no token with the id ${input.id}.`);
  return {};
}
