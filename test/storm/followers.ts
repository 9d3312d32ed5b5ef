import { randomBytes } from 'node:crypto';
import type { FeedEvent } from '../../src/app/core/feed-event.ts';
import { EventListener } from '../helpers/event-listener.ts';
import { WebhookReceiver } from '../helpers/webhook-receiver.ts';
import type { StormClient } from './client.ts';
import { lookUntil, pause } from './pause.ts';
import type { Post } from './server.ts';
import type { Violations } from './verdict.ts';

/** The servers of a storm share this key, and may reach the receiver. */
export const FOLLOWED = {
  SLUICE_SECRET_KEY: randomBytes(32).toString('base64'),
  SLUICE_WEBHOOK_NETWORKS: '127.0.0.1',
};
const AGAIN_MS = 40;
/** The lease of a server that died with a delivery ends after 20 s. */
const DELIVERED_WITHIN_MS = 90_000;

interface Page {
  readonly events: readonly FeedEvent[];
  readonly nextCursor: string;
}

export interface FollowerParts {
  readonly posts: readonly Post[];
  readonly client: StormClient;
  readonly token: string;
  readonly violations: Violations;
}

/** Those who are told of events while servers die: one lists them, one reads the stream, one is an endpoint. */
export class Followers {
  readonly #parts: FollowerParts;
  readonly #receiver = new WebhookReceiver();
  readonly #listed: string[] = [];
  readonly #streamed: string[] = [];
  #webhookId = '';
  #isOver = false;
  #following: readonly Promise<void>[] = [];

  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    await this.#receiver.start();
    const wishes = { name: 'storm', url: this.#receiver.url, format: 'STANDARD', types: ['pull_request.*'] };
    this.#webhookId = (await this.#parts.client.call<{ id: string }>('createWebhook', wishes)).id;
    this.#following = [this.#list(), this.#stream()];
  }

  /** Each follower must have been told of everything; the readers once, the endpoint under one id each. */
  async check(): Promise<void> {
    const { violations } = this.#parts;
    const all = await this.#readAll();
    const ids = all.map(({ id }) => id);
    violations.expect(
      ids.every((id, index) => id === `${index + 1}`),
      `the feed has gaps: ${ids.join(' ')}`,
    );
    await lookUntil({ withinMs: DELIVERED_WITHIN_MS, everyMs: AGAIN_MS }, () =>
      this.#listed.length >= ids.length && this.#streamed.length >= ids.length ? true : undefined,
    );
    this.#isOver = true;
    await Promise.all(this.#following);
    for (const [name, seen] of [
      ['list', this.#listed],
      ['stream', this.#streamed],
    ] as const) {
      violations.expect(seen.join() === ids.join(), `the reader of the ${name} saw ${seen.join(' ')} of ${ids.length}`);
    }
    await this.#checkMessages(all.filter(({ type }) => type.startsWith('pull_request.')));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#receiver.close();
  }

  async #checkMessages(events: readonly FeedEvent[]): Promise<void> {
    const { client, violations } = this.#parts;
    const isWaiting = async () => {
      const query = { id: this.#webhookId, state: 'PENDING' };
      const { deliveries } = await client.call<{ deliveries: readonly object[] }>('listWebhookDeliveries', query);
      return deliveries.length > 0 || this.#messages().size < events.length;
    };
    const looking = { withinMs: DELIVERED_WITHIN_MS, everyMs: 200 };
    await lookUntil(looking, async () => ((await isWaiting()) ? undefined : true));
    const told = [...this.#messages().values()].flatMap((bodies) => [...bodies]).sort();
    const expected = events.map(({ type, prNumber, at }) => `${type} ${prNumber} ${at}`).sort();
    violations.expect(
      told.join('\n') === expected.join('\n'),
      `the endpoint was told of ${told.length} events, of ${expected.length}`,
    );
  }

  /** By the id of the message, each different content that it came with. */
  #messages(): ReadonlyMap<string, ReadonlySet<string>> {
    const messages = new Map<string, Set<string>>();
    for (const { headers, body } of this.#receiver.received) {
      const { type, pr_number, timestamp } = JSON.parse(body) as Record<string, unknown>;
      const id = headers['webhook-id'] ?? '';
      messages.set(id, (messages.get(id) ?? new Set()).add(`${type} ${pr_number} ${timestamp}`));
    }
    return messages;
  }

  async #list(): Promise<void> {
    for (let cursor = '0'; !this.#isOver; ) {
      const { events, nextCursor } = await this.#page(cursor);
      this.#listed.push(...events.map(({ id }) => id));
      cursor = nextCursor;
      if (events.length === 0) await pause(AGAIN_MS);
    }
  }

  async #readAll(): Promise<readonly FeedEvent[]> {
    const all: FeedEvent[] = [];
    for (let cursor = '0'; ; ) {
      const { events, nextCursor } = await this.#page(cursor);
      if (events.length === 0) return all;
      all.push(...events);
      cursor = nextCursor;
    }
  }

  #page(cursor: string): Promise<Page> {
    return this.#parts.client.call<Page>('listEvents', { order: 'ASC', cursor, limit: 50 });
  }

  /** Comes back to any server that is up, with the last id that it has. */
  async #stream(): Promise<void> {
    const { posts, token } = this.#parts;
    while (!this.#isOver) {
      const urls = posts.flatMap((post) => post.life()?.url() ?? []);
      const headers = { 'x-api-token': token, 'last-event-id': this.#streamed.at(-1) ?? '0' };
      const url = `${urls[this.#streamed.length % urls.length]}/v1/events`;
      const response = await fetch(url, { headers }).catch(() => undefined);
      if (response?.status === 200) await this.#follow(new EventListener(response));
      else await pause(AGAIN_MS);
    }
  }

  async #follow(listener: EventListener): Promise<void> {
    for (let read = 0; ; ) {
      const { isEnded } = listener;
      const fresh = listener.sent.slice(read);
      read += fresh.length;
      this.#streamed.push(...fresh.flatMap(({ id }) => id ?? []));
      if (isEnded) return;
      if (this.#isOver) return listener.close();
      await pause(AGAIN_MS);
    }
  }
}
