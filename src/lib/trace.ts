import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

export type Attributes = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
export type SpanKind = 'internal' | 'server' | 'client';

/** A span that has ended. Ids are lower-case hexadecimal: 32 digits of a trace, 16 of a span. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Milliseconds since 1970, with a fraction. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

/** A span of this process or of another one. */
export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** Decides which traces are kept, and takes their spans. It never throws and never waits. */
export interface Tracing {
  isSampled(traceId: string, parent?: SpanContext): boolean;
  record(span: SpanRecord): void;
  /** Of this server, since it started. */
  readonly counts: { readonly sent: number; readonly dropped: number };
}

interface Begun {
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes?: Attributes;
}

/** The instant at which a trace began here, by both clocks: a wall clock may be set while a span lasts. */
interface Origin {
  readonly wallMs: number;
  readonly steadyMs: number;
}

/** Random bytes cost a system call, so they are drawn for many ids at once. */
let drawn = Buffer.alloc(0);

function randomId(bytes: number): string {
  if (drawn.length < bytes) drawn = randomBytes(4_096);
  const id = drawn.toString('hex', 0, bytes);
  drawn = drawn.subarray(bytes);
  return id;
}

const active = new AsyncLocalStorage<Span | undefined>();

export class Span implements SpanContext {
  readonly traceId: string;
  readonly spanId = randomId(8);
  readonly isSampled = true;
  readonly #tracing: Tracing;
  readonly #parentId: string | undefined;
  readonly #begun: Begun;
  readonly #origin: Origin;
  readonly #startMs: number;
  #attributes: Attributes;
  #isError = false;
  isEnded = false;

  private constructor(
    begun: Begun,
    of: {
      readonly tracing: Tracing;
      readonly traceId: string;
      readonly parentId: string | undefined;
      readonly origin: Origin;
    },
  ) {
    this.#begun = begun;
    this.#tracing = of.tracing;
    this.traceId = of.traceId;
    this.#parentId = of.parentId;
    this.#origin = of.origin;
    this.#startMs = this.#now();
    this.#attributes = begun.attributes ?? {};
  }

  /** Undefined if the trace is not sampled. */
  static begin(tracing: Tracing, begun: Begun, parent?: SpanContext): Span | undefined {
    const traceId = parent?.traceId ?? randomId(16);
    if (!tracing.isSampled(traceId, parent)) return undefined;
    const origin = { wallMs: Date.now(), steadyMs: performance.now() };
    return new Span(begun, { tracing, traceId, parentId: parent?.spanId, origin });
  }

  beginChild(begun: Begun): Span {
    const { traceId, spanId: parentId } = this;
    return new Span(begun, { tracing: this.#tracing, traceId, parentId, origin: this.#origin });
  }

  set(attributes: Attributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  fail(): void {
    this.#isError = true;
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    const { traceId, spanId } = this;
    const { name, kind } = this.#begun;
    this.#tracing.record({
      ...{ traceId, spanId, parentId: this.#parentId, name, kind },
      ...{ startMs: this.#startMs, endMs: this.#now() },
      ...{ attributes: this.#attributes, isError: this.#isError },
    });
  }

  #now(): number {
    return this.#origin.wallMs + performance.now() - this.#origin.steadyMs;
  }
}

/** Runs `action` in the span, or as it is without one. */
export function runIn<T>(span: Span | undefined, action: () => T): T {
  return span === undefined ? action() : active.run(span, action);
}

/** Runs `action` outside of every span: it is work for others too, or work that goes on later. */
export function runOutside<T>(action: () => T): T {
  return active.getStore() === undefined ? action() : active.run(undefined, action);
}

/** The span that this code runs in. A span that has ended is none: work that it began may go on after it. */
export function activeSpan(): Span | undefined {
  const span = active.getStore();
  return span?.isEnded === false ? span : undefined;
}

/** Runs `action` in a child of the active span. Without one, it only runs it. */
export async function inSpan<T>(begun: Begun, action: (span?: Span) => Promise<T>): Promise<T> {
  const span = activeSpan()?.beginChild(begun);
  return span === undefined ? action() : inBegun(span, action);
}

/** Runs `action` in a span that was begun, and ends it. */
export async function inBegun<T>(span: Span, action: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await active.run(span, () => action(span));
  } catch (error) {
    span.set({ 'error.type': typeOf(error) });
    span.fail();
    throw error;
  } finally {
    span.end();
  }
}

/** A code or the name of a class. Messages may name persons. */
function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads the header of W3C Trace Context. Undefined if it is absent or malformed. */
export function parseTraceparent(header: unknown): SpanContext | undefined {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(typeof header === 'string' ? header : '') ?? [];
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags ?? '', 16) & 1) === 1 };
}
