import { useSignal } from '@preact/signals';
import { call, type Reply } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { may } from '../../core/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { Ago } from '../../ui/text.tsx';

type Token = Reply<'listApiTokens'>['tokens'][number];

/** Tokens with their last use. Those that were revoked are left out. */
export function Tokens({ org }: { readonly org: string }) {
  const asked = useSignal<Token | undefined>(undefined);
  const found = useResource(`tokens ${org}`, (signal) => call(org, 'listApiTokens', {}, { signal }), {
    isTouchedBy: ({ type }) => type.startsWith('token.'),
  });
  return (
    <section aria-label="Tokens">
      <h2>Tokens</h2>
      <Loaded of={found} lines={3}>
        {({ tokens }) => (
          <div class="table-frame">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>May</th>
                  <th>Repositories</th>
                  <th>Used</th>
                  <th>Expires</th>
                  <th>
                    <span class="skip">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tokens
                  .filter(({ revokedAt }) => revokedAt === null)
                  .map((token) => (
                    <tr key={token.id}>
                      <td>{token.name}</td>
                      <td>{token.scopes.join(', ')}</td>
                      <td>{token.repositories === null ? 'all' : token.repositories.length}</td>
                      <td>{token.lastUsedAt === null ? 'never' : <Ago at={token.lastUsedAt} />}</td>
                      <td>{token.expiresAt === null ? 'never' : <Ago at={token.expiresAt} />}</td>
                      <td>
                        {(!token.scopes.includes('instance') || may({ org }, 'instance')) && (
                          <button
                            type="button"
                            onClick={() => {
                              asked.value = token;
                            }}
                          >
                            Revoke
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      <p class="muted">
        Make one with <code>sluice token create --name ci --scope upload --expires 90d</code>
      </p>
      {asked.value !== undefined && (
        <Dialog
          title={`Revoke ${asked.value.name}?`}
          action="Revoke"
          isDangerous
          act={() => call(org, 'revokeApiToken', { id: asked.value?.id })}
          onDone={() => {
            asked.value = undefined;
            found.refresh();
          }}
        >
          <p>It stops working at once, and so do the sessions that were begun with it.</p>
        </Dialog>
      )}
    </section>
  );
}
