export type Payload = Readonly<Record<string, unknown>>;

export interface DeliveryRecord {
  /** As the header says it. */
  readonly event: string;
  /** As hooks subscribe to it. */
  readonly type: string;
  readonly payload: Payload;
  /** The answer. `failed`: there was none. */
  readonly status: number | 'failed';
}

interface Addressee {
  readonly url: string;
  headersOf(body: string): Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 5_000;

/** Sends deliveries one after the other. A failed one is not sent again. */
export class Deliveries {
  readonly deliveries: DeliveryRecord[] = [];
  /** Deliveries are lost while it is off. */
  isOff = false;
  readonly #violations: string[];
  #order: Promise<void> = Promise.resolve();

  constructor(violations: string[]) {
    this.#violations = violations;
  }

  /** The payload shows the state of now, not of the time of sending. */
  send(what: Pick<DeliveryRecord, 'event' | 'type'>, to: readonly Addressee[], build: () => Promise<Payload>): void {
    if (this.isOff || to.length === 0) return;
    const building = build();
    this.#order = this.#order
      .then(async () => {
        const payload = await building;
        for (const each of to) this.deliveries.push({ ...what, payload, status: await post(each, payload) });
      })
      .catch((error: unknown) => void this.#violations.push(`A delivery failed: ${String(error)}`));
  }

  /** Resolves when all deliveries are answered. */
  async settle(): Promise<void> {
    for (let seen: unknown; seen !== this.#order; ) {
      seen = this.#order;
      await this.#order;
    }
  }
}

function post({ url, headersOf }: Addressee, payload: Payload): Promise<DeliveryRecord['status']> {
  const body = JSON.stringify(payload, null, 2);
  const headers = { 'content-type': 'application/json', ...headersOf(body) };
  return fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 'failed' as const,
  );
}
