import type { ComponentChildren } from 'preact';
import type { Resource } from '../../core/resource.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/page-states.tsx';
import { useAsked } from '../../ui/use-asked.tsx';

interface Row {
  readonly id: string;
  readonly name: string;
}

interface Kind<Found, Of extends Row> {
  readonly found: Resource<Found>;
  readonly rowsOf: (found: Found) => readonly Of[];
  /** After the name, and before the button. */
  readonly columns: Readonly<Record<string, (row: Of) => ComponentChildren>>;
  readonly mayRevoke?: (row: Of) => boolean;
  readonly question: (row: Of) => string;
  readonly consequence: string;
  readonly revoke: (row: Of) => Promise<unknown>;
}

/** A table of what was given to somebody, and can be taken back. */
export function RevocableTable<Found, Of extends Row>(kind: Kind<Found, Of>) {
  const { found, rowsOf, columns, mayRevoke = () => true } = kind;
  const { asked: row, done, button } = useAsked<Of>(() => found.refresh());
  return (
    <>
      <Loaded of={found} lines={3}>
        {(loaded) => (
          <div class="table-frame">
            <table>
              <thead>
                <tr>
                  {['Name', ...Object.keys(columns)].map((head) => (
                    <th key={head}>{head}</th>
                  ))}
                  <th>
                    <span class="skip">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {rowsOf(loaded).map((each) => (
                  <tr key={each.id}>
                    <td>{each.name}</td>
                    {Object.entries(columns).map(([head, cellOf]) => (
                      <td key={head}>{cellOf(each)}</td>
                    ))}
                    <td>{mayRevoke(each) && button(each, 'Revoke')}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
      {row !== undefined && (
        <Dialog title={kind.question(row)} action="Revoke" isDangerous act={() => kind.revoke(row)} onDone={done}>
          <p>{kind.consequence}</p>
        </Dialog>
      )}
    </>
  );
}
