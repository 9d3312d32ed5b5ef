import type { Homes } from '../../app/core/homes.ts';
import type { Log } from '../../lib/log.ts';
import { inSpan } from '../../lib/trace.ts';
import type { ServerRow } from '../../storage/servers.ts';
import type { Handler, RequestContext, Route } from '../core/route.ts';
import { HomeLink, LinkLost, writeCaller } from './home-link.ts';

/** A home that could not be reached is left alone for this long. */
const AVOID_MS = 5_000;

interface Named {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
}

interface Peer {
  readonly link: Promise<HomeLink | undefined>;
  readonly avoidedUntilMs: number;
}

/**
 * Passes requests that change a queue on to its home, which stores those of all servers together. It is an optimization
 * alone: without a home that answers, this server does it.
 */
// SPEC D31
export class PassOn {
  readonly #homes: Homes;
  readonly #secret: string;
  readonly #log: Log;
  readonly #peers = new Map<string, Peer>();

  constructor(of: { readonly homes: Homes; readonly secret: string; readonly log: Log }) {
    this.#homes = of.homes;
    this.#secret = of.secret;
    this.#log = of.log;
  }

  handlerFor({ operation, handle }: Route): Handler {
    return async (context: RequestContext, body: never) => {
      const home = this.#homes.findOther(nameOf(context, body));
      const link = home && (await this.#linkTo(home));
      if (link === undefined) return handle(context, body);
      try {
        return await inSpan({ name: 'pass on', kind: 'client' }, (span) =>
          link.run(operation.name, writeCaller(context.caller), body, span),
        );
      } catch (error) {
        // These operations may be repeated: the second time changes nothing.
        if (error instanceof LinkLost) return handle(context, body);
        throw error;
      }
    };
  }

  async stop(): Promise<void> {
    for (const { link } of this.#peers.values()) (await link)?.close();
  }

  async #linkTo(server: ServerRow): Promise<HomeLink | undefined> {
    const key = `${server.id} ${server.address}`;
    const known = this.#peers.get(key);
    const link = await known?.link;
    if (link?.isOpen) return link;
    const present = this.#peers.get(key);
    if (present !== known) return present?.link;
    if (known !== undefined && performance.now() < known.avoidedUntilMs) return undefined;
    const opened = HomeLink.open(server, this.#secret).catch((error: Error) => {
      const { id, address } = server;
      this.#log.warn({ server: id, address, reason: error.message }, 'another server cannot be reached');
      return undefined;
    });
    this.#peers.set(key, { link: opened, avoidedUntilMs: performance.now() + AVOID_MS });
    return opened;
  }
}

/** Forges may ignore case. Two spellings of one queue must not have two homes. */
function nameOf({ caller }: RequestContext, { repo, targetBranch }: Named): string {
  return `${caller.organization.id} ${repo.host}/${repo.owner}/${repo.name}`.toLowerCase().concat(` ${targetBranch}`);
}
