import type { Finding } from '../../hosting.ts';
import { EVENTS } from '../app-needs.ts';
import type { GithubClient } from '../client.ts';

interface DeliveryRecord {
  readonly delivered_at?: string;
  readonly status_code?: number;
  readonly status?: string;
}

/** Whether events arrive. Without them everything still happens, only later. */
export async function inspectWebhook(client: GithubClient): Promise<readonly Finding[]> {
  if (client.webhookSecret() === undefined) {
    const text =
      'The server has no webhook secret: no event is believed, and everything is found by asking, which is slower.';
    return [{ level: 'warning', code: 'WEBHOOK_OFF', text }];
  }
  if (client.connection.auth.kind === 'token') {
    const text =
      'With a token the webhook is yours to make: in the settings of the repository, to /webhooks/github of this server, as application/json, with the secret of SLUICE_GITHUB_WEBHOOK_SECRET.';
    return [{ level: 'warning', code: 'WEBHOOK_BY_HAND', text }];
  }
  return [...(await inspectEvents(client)), ...(await inspectDeliveries(client))];
}

async function inspectEvents(client: GithubClient): Promise<readonly Finding[]> {
  const { status, data } = await client.appRequest<{ readonly events?: readonly string[] }>({
    route: 'GET /app',
    accept: 'any',
  });
  const missing = status === 200 ? EVENTS.filter((event) => data.events?.includes(event) !== true) : [];
  if (missing.length === 0) return [];
  const text = `The app is not subscribed to these events, which are then noticed later: ${missing.join(', ')}.`;
  return [{ level: 'warning', code: 'EVENTS_MISSING', text }];
}

async function inspectDeliveries(client: GithubClient): Promise<readonly Finding[]> {
  const { status, data } = await client.appRequest<readonly DeliveryRecord[]>({
    route: 'GET /app/hook/deliveries',
    parameters: { per_page: 1 },
    accept: 'any',
  });
  if (status !== 200 || !Array.isArray(data)) return [];
  const [last] = data as readonly DeliveryRecord[];
  if (last === undefined) {
    const text = 'GitHub has not delivered any event to this server yet.';
    return [{ level: 'warning', code: 'WEBHOOK_SILENT', text }];
  }
  const when = last.delivered_at === undefined ? '' : ` at ${last.delivered_at}`;
  const code = last.status_code ?? 0;
  if (code >= 200 && code < 300)
    return [{ level: 'ok', code: 'WEBHOOK', text: `The last event${when} was delivered.` }];
  const answer = code > 0 ? `was answered with ${code}` : 'was not answered';
  const text = `The last event that GitHub sent${when} ${answer} (${last.status ?? 'no reason given'}). The webhook URL of the app must lead to /webhooks/github of this server, and its secret must be the server's.`;
  return [{ level: 'error', code: 'WEBHOOK_FAILING', text }];
}
