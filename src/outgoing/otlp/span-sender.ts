import { Agent, request } from 'undici';
import { backoffMs } from '../../lib/backoff.ts';
import type { Log } from '../../lib/log.ts';
import type { Attributes, SpanRecord } from '../../lib/trace.ts';
import { encodeSpans } from './encode-spans.ts';

/** More spans than these are dropped while the receiver cannot keep up: some 4 MB. */
export const WAITING_LIMIT = 4_096;
const BATCH = 512;
/** Spans that follow each other within this time are sent together. */
const GATHER_MS = 1_000;
const RETRY_FIRST_MS = 1_000;
const RETRY_CAP_MS = 60_000;
/** The protocol names these as worth a repetition. */
const RETRYABLE = [429, 502, 503, 504];
/** The answer has a short sentence at most. */
const MAX_ANSWER_BYTES = 16 * 1024;

export interface SpanSenderOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly resource: Attributes;
  readonly version: string;
  readonly log: Log;
  readonly gatherMs?: number;
  readonly retryFirstMs?: number;
}

type Sent =
  | { readonly kind: 'taken' }
  /** The receiver will not take these spans, however often they come. */
  | { readonly kind: 'refused'; readonly why: string; readonly refused: number }
  | { readonly kind: 'later'; readonly why: string; readonly afterMs: number | undefined };

// SPEC M24
export class SpanSender {
  readonly #options: SpanSenderOptions;
  readonly #agent = new Agent({ pipelining: 1, connections: 1 });
  readonly #stopping = new AbortController();
  readonly counts = { sent: 0, dropped: 0 };
  #waiting: SpanRecord[] = [];
  #running: Promise<void> | undefined;
  #wake: () => void = () => {};
  #isFailing = false;
  #droppedBefore = 0;
  /** Set when the server stops: nothing is tried again, and no request lasts longer. */
  #deadline: AbortSignal | undefined;

  constructor(options: SpanSenderOptions) {
    this.#options = options;
  }

  add(span: SpanRecord): void {
    if (this.#waiting.length >= WAITING_LIMIT || this.#stopping.signal.aborted) {
      this.counts.dropped += 1;
      return;
    }
    this.#waiting.push(span);
    this.#running ??= this.#run();
    if (this.#waiting.length === BATCH && !this.#isFailing) this.#wake();
  }

  /** Sends the rest within `withinMs`, and gives up what is left then. */
  async stop(withinMs: number): Promise<void> {
    const deadline = AbortSignal.timeout(Math.max(1, Math.round(withinMs)));
    this.#deadline = deadline;
    this.#wake();
    const late = new Promise<void>((resolve) => deadline.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.#running, late]);
    this.#stopping.abort();
    this.counts.dropped += this.#waiting.length;
    this.#waiting = [];
    await this.#agent.destroy();
  }

  async #run(): Promise<void> {
    let attempts = 0;
    await this.#pause(this.#options.gatherMs ?? GATHER_MS);
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      const sent = await this.#send(batch);
      if (sent.kind === 'later') {
        this.#tellFailure(sent.why);
        if (this.#deadline !== undefined) break;
        const spread = Math.random();
        const firstMs = this.#options.retryFirstMs ?? RETRY_FIRST_MS;
        const waitMs = backoffMs(attempts, { firstMs, capMs: RETRY_CAP_MS, spread });
        attempts += 1;
        await this.#pause(Math.max(waitMs, Math.min(sent.afterMs ?? 0, RETRY_CAP_MS)));
        continue;
      }
      attempts = 0;
      this.#waiting.splice(0, batch.length);
      const refused = sent.kind === 'refused' ? sent.refused : 0;
      this.counts.sent += batch.length - refused;
      this.counts.dropped += refused;
      if (sent.kind === 'refused') this.#tellFailure(sent.why);
      else this.#tellSuccess();
      if (this.#waiting.length < BATCH) await this.#pause(this.#options.gatherMs ?? GATHER_MS);
    }
    this.#running = undefined;
  }

  async #pause(ms: number): Promise<void> {
    if (this.#deadline !== undefined) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }

  async #send(batch: readonly SpanRecord[]): Promise<Sent> {
    const { url, headers, timeoutMs } = this.#options;
    const signals = [
      this.#stopping.signal,
      AbortSignal.timeout(timeoutMs),
      ...(this.#deadline ? [this.#deadline] : []),
    ];
    try {
      const response = await request(url, {
        ...{ method: 'POST', dispatcher: this.#agent, signal: AbortSignal.any(signals) },
        headers: { ...headers, 'content-type': 'application/json' },
        body: encodeSpans(batch, this.#options),
      });
      const answer = await readAnswer(response.body);
      return judge(response, answer, batch.length);
    } catch (error) {
      return { kind: 'later', why: describe(error), afterMs: undefined };
    }
  }

  #tellFailure(why: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#droppedBefore = this.counts.dropped;
    const { log, url } = this.#options;
    log.warn({ url, why }, 'The receiver of traces does not take them. Sluice goes on without traces and tries again.');
  }

  #tellSuccess(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    const { log, url } = this.#options;
    const dropped = this.counts.dropped - this.#droppedBefore;
    log.info({ url, dropped }, 'The receiver of traces takes them again.');
  }
}

interface Response {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

function judge({ statusCode, headers }: Response, answer: string, size: number): Sent {
  if (statusCode >= 200 && statusCode < 300) {
    const refused = Math.min(size, countRefused(answer));
    return refused === 0 ? { kind: 'taken' } : { kind: 'refused', why: `It refused ${refused} spans.`, refused };
  }
  const why = `It answered ${statusCode}.`;
  if (!RETRYABLE.includes(statusCode)) return { kind: 'refused', why, refused: size };
  const seconds = Number(headers['retry-after']);
  return { kind: 'later', why, afterMs: seconds > 0 ? seconds * 1_000 : undefined };
}

/** 0 in an answer without `partialSuccess`, or of another form. */
function countRefused(answer: string): number {
  try {
    return Number(JSON.parse(answer)?.partialSuccess?.rejectedSpans) || 0;
  } catch {
    return 0;
  }
}

async function readAnswer(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError') return 'It did not answer in time.';
  const code = 'code' in error ? String(error.code) : error.name;
  return `It could not be reached (${code}).`;
}
