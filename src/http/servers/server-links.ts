import type { FastifyInstance } from 'fastify';
import type { App } from '../../app/core/app.ts';
import { Homes } from '../../app/core/homes.ts';
import type { Handler, Route } from '../core/route.ts';
import { ROUTES } from '../routes.ts';
import { HomeEnd, linkSecretOf } from './home-end.ts';
import { PassOn } from './pass-on.ts';

/** Other servers get this long to take back what they passed on. */
const GOODBYE_MS = 2_000;

/** The links of this server with the others on its store, in both directions. */
export class ServerLinks {
  readonly #app: App;
  readonly #id: string;
  readonly #homes: Homes;
  readonly #passOn: PassOn;
  #end: HomeEnd | undefined;

  constructor(app: App, { id, version }: { readonly id: string; readonly version: string }) {
    const { clock, log, store } = app;
    this.#app = app;
    this.#id = id;
    this.#homes = new Homes({ id, version, store: store.servers, clock, log });
    this.#passOn = new PassOn({ homes: this.#homes, secret: linkSecretOf(app), log });
  }

  handlerFor(route: Route): Handler {
    return this.#passOn.handlerFor(route);
  }

  accept(server: FastifyInstance): void {
    const passedOn = ROUTES.filter((route) => route.isPassedOn);
    const routes = new Map(passedOn.map((route) => [route.operation.name, route]));
    this.#end = new HomeEnd(server, { app: this.#app, log: this.#app.log, serverId: this.#id, routes });
  }

  start(address: string): void {
    this.#homes.start(address);
  }

  /** Gives the queues of this server to the others. What they passed on is answered first. */
  // SPEC D37
  async stop(): Promise<void> {
    await this.#homes.stop();
    const cut = setTimeout(() => this.#end?.cut(), GOODBYE_MS);
    await Promise.all([this.#passOn.stop(), this.#end?.stop()]);
    clearTimeout(cut);
  }
}
