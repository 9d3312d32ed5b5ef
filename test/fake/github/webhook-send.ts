import { createHmac } from 'node:crypto';

/** GitHub's timeout. */
const TIMEOUT_MS = 10_000;

/** The hook of an app. */
export interface HookTarget {
  readonly id: number;
  readonly url: string;
  readonly secret: string | undefined;
}

interface Sendable {
  readonly id: string;
  readonly event: string;
  readonly body: Buffer;
  readonly target: HookTarget;
}

/** Posts a delivery. Answers the status, or `failed` without an answer. */
export async function sendDelivery(delivery: Sendable, secret: string | undefined): Promise<number | 'failed'> {
  try {
    const response = await fetch(delivery.target.url, {
      method: 'POST',
      headers: headersOf(delivery, secret),
      body: new Uint8Array(delivery.body),
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 'failed';
  }
}

function headersOf({ id, event, body, target }: Sendable, secret: string | undefined): Record<string, string> {
  const sign = (algorithm: string) =>
    `${algorithm}=${createHmac(algorithm, secret ?? '')
      .update(body)
      .digest('hex')}`;
  const signatures =
    secret === undefined ? {} : { 'x-hub-signature': sign('sha1'), 'x-hub-signature-256': sign('sha256') };
  return {
    accept: '*/*',
    'content-type': 'application/json',
    'user-agent': 'GitHub-Hookshot/f4k3000',
    'x-github-delivery': id,
    'x-github-event': event,
    'x-github-hook-id': String(target.id),
    'x-github-hook-installation-target-id': String(target.id),
    'x-github-hook-installation-target-type': 'integration',
    ...signatures,
  };
}
