import { useSignal } from '@preact/signals';
import { call, type Reply } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { Ago } from '../../ui/text.tsx';

type PersonSession = Reply<'listSessions'>['sessions'][number];

/** The people who are signed in. */
export function People({ org }: { readonly org: string }) {
  const asked = useSignal<PersonSession | undefined>(undefined);
  const found = useResource(`people ${org}`, (signal) => call(org, 'listSessions', {}, { signal }), {
    isTouchedBy: ({ type }) => type.startsWith('session.'),
  });
  return (
    <section aria-label="People">
      <h2>People who are signed in</h2>
      <Loaded of={found} lines={3}>
        {({ sessions }) => (
          <div class="table-frame">
            <table>
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Signed in</th>
                  <th>Used</th>
                  <th>
                    <span class="skip">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {sessions.map((session) => (
                  <tr key={session.id}>
                    <td>{session.name}</td>
                    <td>
                      <Ago at={session.createdAt} />
                    </td>
                    <td>
                      <Ago at={session.lastUsedAt} />
                    </td>
                    <td>
                      <button
                        type="button"
                        onClick={() => {
                          asked.value = session;
                        }}
                      >
                        Revoke
                      </button>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {asked.value !== undefined && (
        <Dialog
          title={`End the session of ${asked.value.name}?`}
          action="Revoke"
          isDangerous
          act={() => call(org, 'revokeSession', { id: asked.value?.id })}
          onDone={() => {
            asked.value = undefined;
            found.refresh();
          }}
        >
          <p>It ends at once. The person can sign in again while the table of roles gives them a role.</p>
        </Dialog>
      )}
    </section>
  );
}
