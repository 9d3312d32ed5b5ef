import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Prng } from '../../../src/lib/prng.ts';
import { covers } from './auth.ts';
import type { Happening } from './happening.ts';
import type { App, Installation, World } from './model.ts';
import { type Payload, payloadOf } from './webhook-payload.ts';
import { type HookTarget, sendDelivery } from './webhook-send.ts';
import { goOn, nodeId } from './world.ts';

/** Faults of deliveries. Shares range from 0 (never) to 1 (always). */
export interface WebhookConditions {
  readonly isOff?: boolean;
  readonly delayMs?: number;
  readonly lost?: number;
  readonly doubled?: number;
  /** The duplicate gets an id of its own. */
  readonly isDoubledAnew?: boolean;
  /** Share of deliveries that are sent out of order. */
  readonly disordered?: number;
  readonly forged?: number;
}

export interface DeliveryRecord {
  /** The id in the header. */
  readonly id: string;
  readonly event: string;
  readonly action: string | undefined;
  readonly payload: Payload;
  readonly body: Buffer;
  readonly target: HookTarget;
  /** Unique per attempt. */
  readonly number: number;
  /** Time of sending, or of creation while it waits. */
  at: number;
  /** `waiting`: on its way. `lost`: never sent. `failed`: no answer. */
  status: number | 'waiting' | 'lost' | 'failed';
}

interface Lane {
  readonly waiting: { readonly record: DeliveryRecord; readonly secret: string | undefined }[];
  pumping: Promise<void> | undefined;
}

/** Deliveries are collected for this long when they are to be reordered. */
const GATHERING_MS = 40;

/** Sends webhooks to apps, in order per repository. */
export class Webhooks {
  readonly deliveries: DeliveryRecord[] = [];
  readonly #world: World;
  readonly #lanes = new Map<string, Lane>();
  #conditions: WebhookConditions = {};
  #prng = new Prng(1);
  /** A separate counter: the time of deliveries must not change the ids of other objects. */
  #attempts = 0;

  constructor(world: World) {
    this.#world = world;
    world.onHappening((happening) => this.#tell(happening));
  }

  configure(conditions: WebhookConditions, seed = 1): void {
    this.#conditions = conditions;
    this.#prng = new Prng(seed);
  }

  #attempt(): Pick<DeliveryRecord, 'number' | 'at' | 'status'> {
    this.#attempts += 1;
    return { number: this.#attempts, at: this.#world.now(), status: 'waiting' };
  }

  /** Resolves when all sent deliveries are answered. */
  async settle(): Promise<void> {
    for (;;) {
      const busy = [...this.#lanes.values()].flatMap(({ pumping }) => pumping ?? []);
      if (busy.length === 0) return;
      await Promise.all(busy);
    }
  }

  /** The receivers are fixed now, and each gets the events in order. */
  #tell(happening: Happening): void {
    if (this.#conditions.isOff === true) return;
    const targets = this.#targetsOf(happening);
    if (targets.length === 0) return;
    const payload = payloadOf(this.#world, happening);
    for (const { target, more } of targets) {
      this.#send(target, laneOf(target, happening), happening.event, { ...payload, ...more });
    }
  }

  #targetsOf(happening: Happening): readonly { readonly target: HookTarget; readonly more: Payload }[] {
    return this.#listeners(happening).flatMap((installation) => {
      const target = targetOf(installation.app);
      const { id } = installation;
      const hasPages = 'repository' in happening;
      const more = hasPages ? { installation: { id, node_id: nodeId('IN', id) } } : {};
      return target === undefined ? [] : [{ target, more }];
    });
  }

  #listeners(happening: Happening): readonly Installation[] {
    if (!('repository' in happening)) return [happening.installation];
    return [...this.#world.installations.values()].filter((installation) => {
      if (installation.suspendedAt !== undefined) return false;
      return covers(installation, happening.repository) && installation.events.includes(happening.event);
    });
  }

  #send(target: HookTarget, lane: string, event: string, payload: Payload): void {
    const action = typeof payload['action'] === 'string' ? payload['action'] : undefined;
    const body = Buffer.from(JSON.stringify(payload));
    const record: DeliveryRecord = { id: randomUUID(), event, action, payload, body, target, ...this.#attempt() };
    if (this.#prng.chance(this.#conditions.lost ?? 0)) {
      record.status = 'lost';
      this.deliveries.push(record);
      return;
    }
    this.#enqueue(lane, record);
    if (!this.#prng.chance(this.#conditions.doubled ?? 0)) return;
    const id = this.#conditions.isDoubledAnew === true ? randomUUID() : record.id;
    this.#enqueue(lane, { ...contentOf(record), ...this.#attempt(), id });
  }

  #enqueue(name: string, record: DeliveryRecord): void {
    this.deliveries.push(record);
    const isForged = this.#prng.chance(this.#conditions.forged ?? 0);
    const secret = isForged ? 'not the secret' : record.target.secret;
    const lane = this.#lanes.get(name) ?? { waiting: [], pumping: undefined };
    this.#lanes.set(name, lane);
    lane.waiting.push({ record, secret });
    if (lane.pumping !== undefined) return;
    lane.pumping = this.#pump(lane);
    goOn(this.#world, lane.pumping);
  }

  async #pump(lane: Lane): Promise<void> {
    const { disordered = 0, delayMs = 0 } = this.#conditions;
    await pause(disordered > 0 ? GATHERING_MS : 0);
    while (lane.waiting.length > 0) {
      if (delayMs > 0) await pause(delayMs);
      const index = this.#prng.chance(disordered) ? this.#prng.integer(lane.waiting.length) : 0;
      const [next] = lane.waiting.splice(index, 1);
      if (next === undefined) continue;
      next.record.at = this.#world.now();
      next.record.status = await sendDelivery(next.record, next.secret);
    }
    // Reset synchronously: a delivery added in the next moment would otherwise never be sent.
    lane.pumping = undefined;
  }
}

/** The part that all attempts share. */
function contentOf({ id, event, action, payload, body, target }: DeliveryRecord) {
  return { id, event, action, payload, body, target };
}

function targetOf(app: App): HookTarget | undefined {
  const { url, secret, isActive } = app.hook;
  return url === undefined || !isActive ? undefined : { id: app.id, url, secret };
}

function laneOf({ id }: HookTarget, happening: Happening): string {
  return `${id} ${'repository' in happening ? happening.repository.id : 'installation'}`;
}
