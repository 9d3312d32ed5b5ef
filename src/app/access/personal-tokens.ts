import { personName } from '../../lib/actor-name.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { Token } from '../../storage/accounts.ts';
import type { ProvenPerson } from '../../storage/proven-person.ts';
import type { App } from '../core/app.ts';
import { actEvent, SLUICE } from '../core/feed-event.ts';
import { endOf, isGood } from './authenticate.ts';

const DAY_MS = 24 * 3_600_000;
/** Rounds come once a day, and the event is to come 14 days before the end. */
const TOLD_BEFORE_MS = 15 * DAY_MS;

export function isOf(person: ProvenPerson, { person: maker }: Token): boolean {
  return maker?.provider === person.provider && maker.subject === person.subject;
}

/** Each sign-in proves groups and logins anew, also those that the person has no more. */
// SPEC A71
export async function renewTokens(app: App, person: ProvenPerson): Promise<void> {
  const own = (await app.store.accounts.listTokensOfPeople()).filter((token) => isOf(person, token));
  if (own.length === 0) return;
  const ids = own.map(({ id }) => id);
  await app.store.accounts.recordSignIn(ids, person, app.clock.now());
  app.auth.forget();
}

/** Tells once of each token of a person that ends soon. A short-lived one was meant to. */
// SPEC A74
export async function tellOfEnds({ store, clock, feed }: App): Promise<void> {
  const now = clock.now();
  for (const token of await store.accounts.listTokensOfPeople()) {
    const end = endOf(token);
    const { id: tokenId, organizationId, name, person, expiresAt, createdAt } = token;
    if (end === null || person === null || !isGood(token, now) || end - now > TOLD_BEFORE_MS) continue;
    if (end - createdAt <= TOLD_BEFORE_MS) continue;
    const isIdle = end !== expiresAt;
    const next = isIdle ? 'It goes on if they sign in before.' : 'Make another one before.';
    const happening = {
      type: 'token.expiring',
      actor: SLUICE,
      text: `The token "${name}" of ${personName(person)} ends at ${formatInstant(end)}. ${next}`,
      data: { tokenId, name, madeBy: token.madeBy, expiresAt: formatInstant(end) },
    };
    const once = { source: `token-end/${tokenId}`, version: Math.floor(end / DAY_MS) };
    await store.feed.addOnce(organizationId, [{ ...actEvent(now, happening, { organizationId }), ...once }]);
  }
  feed.wake();
}
