import { call, type Reply } from '../../core/api.ts';
import { useResource } from '../../core/resource.ts';
import { Empty, Loaded } from '../../ui/page-states.tsx';
import { State } from '../../ui/shape.tsx';
import { Table } from '../../ui/table.tsx';
import { Ago } from '../../ui/text.tsx';
import { useOpening } from '../../ui/use-opening.tsx';

type Webhook = Reply<'listWebhooks'>['webhooks'][number];

export function Webhooks({ org }: { readonly org: string }) {
  const found = useResource(`webhooks ${org}`, (signal) => call(org, 'listWebhooks', {}, { signal }), {
    isTouchedBy: ({ type }) => type.startsWith('webhook.'),
  });
  return (
    <section aria-label="Webhooks">
      <h2>Webhooks</h2>
      <Loaded of={found} lines={2}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty title="Nobody is told of events yet" isPart>
              <pre>
                <code>sluice webhook create --name ci --url https://ci.acme.dev/hooks --type pull_request.*</code>
              </pre>
            </Empty>
          ) : (
            <ul class="things">
              {webhooks.map((webhook) => (
                <One key={webhook.id} org={org} webhook={webhook} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}

function lookOf({ disabledAt, failingSince, hasOtherKey }: Webhook) {
  if (disabledAt !== null) return { word: 'Disabled', shape: 'pause', tone: 'warn' } as const;
  if (hasOtherKey) return { word: 'Another key', shape: 'cross', tone: 'bad' } as const;
  if (failingSince !== null) return { word: 'Failing', shape: 'mark', tone: 'bad' } as const;
  return { word: 'Works', shape: 'check', tone: 'good' } as const;
}

function One({ org, webhook }: { readonly org: string; readonly webhook: Webhook }) {
  const { isOpen, button } = useOpening({ show: 'Deliveries', hide: 'Close' });
  const { name, format, types, url, failingSince } = webhook;
  return (
    <li>
      <div class="title-row">
        <span>
          <strong>{name}</strong> <State look={lookOf(webhook)} />{' '}
          <span class="muted">
            {format} · {types.join(', ')}
          </span>
        </span>
        {button}
      </div>
      <p class="muted">
        <code>{url}</code>
        {failingSince !== null && (
          <>
            {' '}
            fails since <Ago at={failingSince} />
          </>
        )}
      </p>
      {isOpen && <Deliveries org={org} id={webhook.id} />}
    </li>
  );
}

function Deliveries({ org, id }: { readonly org: string; readonly id: string }) {
  const found = useResource(`deliveries ${org} ${id}`, (signal) =>
    call(org, 'listWebhookDeliveries', { id, limit: 20 }, { signal }),
  );
  return (
    <Loaded of={found} lines={2}>
      {({ deliveries }) =>
        deliveries.length === 0 ? (
          <p class="muted">Nothing was sent yet.</p>
        ) : (
          <Table heads={['When', 'Type', 'State']}>
            {deliveries.map((delivery) => (
              <tr key={delivery.id}>
                <td>
                  <Ago at={delivery.createdAt} />
                </td>
                <td>{delivery.type}</td>
                <td>{delivery.state.toLowerCase()}</td>
              </tr>
            ))}
          </Table>
        )
      }
    </Loaded>
  );
}
