import { error, ok, warning } from '../../hosted/setup-finding.ts';
import type { SetupFinding } from '../../hosting.ts';
import { EVENTS } from '../api/app-needs.ts';
import type { GithubClient } from '../api/client.ts';

interface DeliveryRecord {
  readonly guid?: string;
  readonly delivered_at?: string;
  readonly status_code?: number;
  readonly status?: string;
}

const LOOKED_AT = 30;

/** Tells whether webhooks arrive. Without them the poller finds every change within a minute. */
// SPEC G96
export async function inspectWebhook(client: GithubClient): Promise<readonly SetupFinding[]> {
  if (client.webhookSecret() === undefined) {
    const text =
      'The server has no webhook secret: no event is believed, and everything is found by asking, which is slower.';
    return [warning('WEBHOOK_OFF', text)];
  }
  if (client.connection.auth.kind === 'token') {
    const text =
      'With a token the webhook is yours to make: in the settings of the repository, to /webhooks/github of this server, as application/json, with the secret of SLUICE_GITHUB_WEBHOOK_SECRET.';
    return [warning('WEBHOOK_BY_HAND', text)];
  }
  return [...(await inspectEvents(client)), ...(await inspectDeliveries(client))];
}

async function inspectEvents(client: GithubClient): Promise<readonly SetupFinding[]> {
  const { status, data } = await client.appRequest<{ readonly events?: readonly string[] }>({
    route: 'GET /app',
    accept: 'any',
  });
  const missing = status === 200 ? EVENTS.filter((event) => data.events?.includes(event) !== true) : [];
  if (missing.length === 0) return [];
  const text = `The app is not subscribed to these events, which are then noticed later: ${missing.join(', ')}.`;
  return [warning('EVENTS_MISSING', text)];
}

async function inspectDeliveries(client: GithubClient): Promise<readonly SetupFinding[]> {
  const { status, data } = await client.appRequest<readonly DeliveryRecord[]>({
    route: 'GET /app/hook/deliveries',
    parameters: { per_page: LOOKED_AT },
    accept: 'any',
  });
  if (status !== 200 || !Array.isArray(data)) return [];
  const attempts = newestOfEach((data as readonly (DeliveryRecord | null)[]).filter((record) => record !== null));
  const [last] = attempts;
  if (last === undefined) {
    const text = 'GitHub has not delivered any event to this server yet.';
    return [warning('WEBHOOK_SILENT', text)];
  }
  const failed = attempts.filter((attempt) => !isDelivered(attempt));
  const [latest] = failed;
  if (latest === undefined) {
    const text = `The last event${whenOf(last)} was delivered.`;
    return [ok('WEBHOOK', text)];
  }
  const host = await findHost(client);
  const to = host === undefined ? '' : ` to ${host}`;
  if (latest === last) {
    const text = `The last event that GitHub sent${to}${whenOf(last)} ${resultOf(last)}; of the last ${attempts.length} events ${failed.length} did not arrive. The webhook URL of the app must lead to /webhooks/github of this server, and its secret must be the server's.`;
    return [error('WEBHOOK_FAILING', text)];
  }
  const text = `Of the last ${attempts.length} events that GitHub sent${to}, ${failed.length} did not arrive; the latest of them${whenOf(latest)} ${resultOf(latest)}. What they told is noticed later.`;
  return [warning('WEBHOOK_UNSTEADY', text)];
}

/** A redelivery replaces its first attempt. GitHub lists the newest first. */
function newestOfEach(attempts: readonly DeliveryRecord[]): readonly DeliveryRecord[] {
  const seen = new Set<string>();
  return attempts.filter(({ guid }) => {
    if (guid === undefined) return true;
    return !seen.has(guid) && seen.add(guid);
  });
}

function isDelivered({ status_code: code = 0 }: DeliveryRecord): boolean {
  return code >= 200 && code < 300;
}

function whenOf({ delivered_at: at }: DeliveryRecord): string {
  return at === undefined ? '' : ` at ${at}`;
}

function resultOf({ status_code: code = 0, status }: DeliveryRecord): string {
  return `${code > 0 ? `was answered with ${code}` : 'was not answered'} (${status ?? 'no reason given'})`;
}

/** The path of the URL may contain a secret. */
async function findHost(client: GithubClient): Promise<string | undefined> {
  const { status, data } = await client.appRequest<{ readonly url?: unknown } | null>({
    route: 'GET /app/hook/config',
    accept: 'any',
  });
  const url = status === 200 && typeof data?.url === 'string' ? data.url : '';
  return URL.canParse(url) ? new URL(url).host : undefined;
}
