import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { App } from '../../app/core/app.ts';
import { isRefusal } from '../../app/core/refusal.ts';
import type { Log } from '../../lib/log.ts';
import { inBegun, parseTraceparent, Span } from '../../lib/trace.ts';
import { sluiceDialect } from '../core/dialect.ts';
import { toProblem } from '../core/error-response.ts';
import type { Route } from '../core/route.ts';
import { Frames } from './frames.ts';
import { type AnswerFrame, LINK_PATH, LINK_PROTOCOL, PING_MS, readCaller } from './home-link.ts';

/** Servers on one store prove to each other that they are: the key of the store is theirs alone. */
// SPEC D32
export function linkSecretOf({ store }: Pick<App, 'store'>): string {
  return `Sluice ${createHmac('sha256', store.signingKey).update('a link between servers').digest('hex')}`;
}

interface EndDeps {
  readonly app: App;
  readonly log: Log;
  readonly serverId: string;
  readonly routes: ReadonlyMap<string, Route>;
}

/** Answers the links of other servers: runs what they pass on as if it had come here. */
export class HomeEnd {
  readonly #deps: EndDeps;
  readonly #secret: Buffer;
  readonly #links = new Map<Socket, Frames>();
  readonly #pings: NodeJS.Timeout;

  constructor(server: FastifyInstance, deps: EndDeps) {
    this.#deps = deps;
    this.#secret = Buffer.from(linkSecretOf(deps.app));
    server.server.on('upgrade', (request: IncomingMessage, socket: Socket) => this.#accept(request, socket));
    this.#pings = setInterval(() => {
      for (const link of this.#links.values()) link.write('');
    }, PING_MS).unref();
  }

  /** Waits until the other servers have their answers, and pass on nothing more. */
  async stop(): Promise<void> {
    const ended = [...this.#links.keys()].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const link of this.#links.values()) link.write('bye');
    await Promise.all(ended);
    clearInterval(this.#pings);
  }

  cut(): void {
    for (const socket of this.#links.keys()) socket.destroy();
  }

  #accept(request: IncomingMessage, socket: Socket): void {
    const { url, headers } = request;
    const isLink = url === LINK_PATH && headers.upgrade === LINK_PROTOCOL && this.#isKnown(headers.authorization);
    // An address that leads elsewhere, as 127.0.0.1 does on another machine, is found out here.
    if (!isLink || headers['sluice-server'] !== this.#deps.serverId) {
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: ${LINK_PROTOCOL}\r\n\r\n`);
    socket.setTimeout(0);
    const frames = new Frames(socket, (line) => void this.#run(readFrame(line), frames));
    this.#links.set(socket, frames);
    socket.on('close', () => this.#links.delete(socket));
  }

  #isKnown(given: string | undefined): boolean {
    const bytes = Buffer.from(given ?? '');
    return bytes.length === this.#secret.length && timingSafeEqual(bytes, this.#secret);
  }

  async #run([id, operation, caller, body, traceparent]: AskedFrame, frames: Frames): Promise<void> {
    const write = (frame: AnswerFrame) => frames.write(JSON.stringify(frame));
    try {
      const route = this.#deps.routes.get(operation);
      if (route === undefined) throw new Error(`${operation} is not passed on`);
      const { app } = this.#deps;
      const act = () => route.handle({ ...ALONE, app, caller: readCaller(caller) }, body);
      const answer = await continueTrace(app, { operation, traceparent }, act);
      if (isRefusal(answer)) write([id, null, answer]);
      else write([id, answer]);
    } catch (error) {
      const { code, detail, errors } = toProblem(error);
      if (code === 'INTERNAL') this.#deps.log.error({ err: error, operation }, 'request failed by a bug');
      write([id, null, errors === undefined ? { code, detail } : { code, detail, errors }]);
    }
  }
}

type AskedFrame = readonly [number, string, never, never, string?];

/** The server that was asked decided whether the request is traced. */
function continueTrace<T>(
  { tracing }: App,
  { operation: name, traceparent }: { readonly operation: string; readonly traceparent: string | undefined },
  act: () => Promise<T>,
): Promise<T> {
  const parent = parseTraceparent(traceparent);
  const span = tracing && parent && Span.begin(tracing, { name, kind: 'server' }, parent);
  return span === undefined ? act() : inBegun(span, act);
}

/** Throws for a line of another protocol. */
function readFrame(line: string): AskedFrame {
  const frame: unknown = JSON.parse(line);
  if (!Array.isArray(frame)) throw new TypeError('a frame is an array');
  return frame as unknown as AskedFrame;
}

/** Handlers that are passed on need nothing else of the request. */
const ALONE = {
  fork: undefined,
  dialect: sluiceDialect,
  baseUrl: '',
  lastEventId: undefined,
  isAdmitted: async () => true,
} as const;
