import { call } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { may } from '../../core/session.ts';
import { Ago } from '../../ui/text.tsx';
import { RevocableTable } from './revocable.tsx';

/** Tokens with their last use. Those that were revoked are left out. */
export function Tokens({ org }: { readonly org: string }) {
  const found = useResource(`tokens ${org}`, (signal) => call(org, 'listApiTokens', {}, { signal }), {
    isTouchedBy: ({ type }) => type.startsWith('token.'),
  });
  return (
    <section aria-label="Tokens">
      <h2>Tokens</h2>
      <RevocableTable
        found={found}
        rowsOf={({ tokens }) => tokens.filter(({ revokedAt }) => revokedAt === null)}
        columns={{
          May: ({ scopes }) => scopes.join(', '),
          Repositories: ({ repositories }) => (repositories === null ? 'all' : repositories.length),
          'Made by': ({ madeBy, isPersonal }) => madeBy && (isPersonal ? madeBy : `${madeBy}, for a service`),
          For: ({ isAgent }) => (isAgent ? 'an agent' : ''),
          Used: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Ago at={lastUsedAt} />),
          Expires: ({ expiresAt }) => (expiresAt === null ? 'never' : <Ago at={expiresAt} />),
        }}
        mayRevoke={({ scopes }) => !scopes.includes('instance') || may({ org }, 'instance')}
        question={({ name }) => `Revoke ${name}?`}
        consequence="It stops working at once, and so do the sessions that were begun with it."
        revoke={({ id }) => call(org, 'revokeApiToken', { id })}
      />
      <p class="muted">
        Make one with <code>sluice token create --name ci --scope upload --expires 90d</code>
      </p>
    </section>
  );
}
