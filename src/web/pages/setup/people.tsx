import { call } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { Ago } from '../../ui/text.tsx';
import { RevocableTable } from './revocable.tsx';

/** The people who are signed in. */
export function People({ org }: { readonly org: string }) {
  const found = useResource(`people ${org}`, (signal) => call(org, 'listSessions', {}, { signal }), {
    isTouchedBy: ({ type }) => type.startsWith('session.'),
  });
  return (
    <section aria-label="People">
      <h2>People who are signed in</h2>
      <RevocableTable
        found={found}
        rowsOf={({ sessions }) => sessions}
        columns={{
          'Signed in': ({ createdAt }) => <Ago at={createdAt} />,
          Used: ({ lastUsedAt }) => <Ago at={lastUsedAt} />,
        }}
        question={({ name }) => `End the session of ${name}?`}
        consequence="It ends at once, with the tokens that the person made for themselves. The person can sign in again while the table of roles gives them a role."
        revoke={({ id }) => call(org, 'revokeSession', { id })}
      />
    </section>
  );
}
