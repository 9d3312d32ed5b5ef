import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiProblem } from './api.ts';
import { onStreamEvent } from './stream.ts';
import type { StreamEvent } from './stream-connection.ts';

export interface Resource<T> {
  /** The newest answer. It stays while another one is asked for, and while the server cannot be reached. */
  readonly value: T | undefined;
  readonly problem: ApiProblem | undefined;
  refresh(): void;
}

interface Options {
  /** Events after which the answer may differ. */
  readonly isTouchedBy?: (event: StreamEvent) => boolean;
}

/** Events come in floods. An answer is asked for at most this often. */
const AT_MOST_EVERY_MS = 250;
/** And the server and this page rest for twice as long as they worked on the last one. */
const REST = 3;
/** In case that an event was lost, and for what changes with time alone. */
const ANYWAY_MS = 30_000;

/** A missing session, and too many requests. */
const WAITING = [401, 429];

/** Reads an answer. It may repeat the last one. */
type Read<T> = (signal: AbortSignal, last: T | undefined) => Promise<T>;

/** Reads something from the server, and reads it again when an event says that it changed. */
export function useResource<T>(key: string, read: Read<T>, { isTouchedBy }: Options = {}): Resource<T> {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key names what is read
  const reading = useMemo(() => new Reading(read, isTouchedBy), [key]);
  useEffect(() => reading.start(), [reading]);
  const { value, problem } = reading.state.value;
  return { value, problem, refresh: () => reading.refresh() };
}

/** The same, with the former answer in place while the one to another question is read. */
export function useFormer<T>(resource: Resource<T>): Resource<T> & { readonly isFormer: boolean } {
  const former = useRef<T | undefined>(undefined);
  if (resource.value !== undefined || resource.problem !== undefined) former.current = resource.value;
  return { ...resource, value: former.current, isFormer: resource.value === undefined };
}

class Reading<T> {
  readonly #state = signal<{ readonly value: T | undefined; readonly problem: ApiProblem | undefined }>({
    value: undefined,
    problem: undefined,
  });
  readonly #read: Read<T>;
  readonly #isTouchedBy: ((event: StreamEvent) => boolean) | undefined;
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #readAt = 0;
  #gapMs = AT_MOST_EVERY_MS;
  #isReading = false;
  #isAsked = false;

  constructor(read: Read<T>, isTouchedBy: ((event: StreamEvent) => boolean) | undefined) {
    this.#read = read;
    this.#isTouchedBy = isTouchedBy;
  }

  get state(): ReadonlySignal<{ readonly value: T | undefined; readonly problem: ApiProblem | undefined }> {
    return this.#state;
  }

  start(): () => void {
    this.#abort = new AbortController();
    const leave = onStreamEvent((event) => {
      if (event.type === 'back' || this.#isTouchedBy?.(event) === true) this.refresh();
    });
    const onShow = () => {
      if (document.visibilityState === 'visible' && Date.now() - this.#readAt > ANYWAY_MS) this.refresh();
    };
    document.addEventListener('visibilitychange', onShow);
    void this.#readNow();
    return () => {
      leave();
      document.removeEventListener('visibilitychange', onShow);
      clearTimeout(this.#timer);
      this.#abort.abort();
    };
  }

  refresh(): void {
    if (this.#isReading) this.#isAsked = true;
    else this.#readIn(Math.max(0, this.#gapMs - (Date.now() - this.#readAt)));
  }

  #readIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#readNow(), ms);
  }

  async #readNow(): Promise<void> {
    const { signal: stopped } = this.#abort;
    this.#isReading = true;
    this.#isAsked = false;
    this.#readAt = Date.now();
    try {
      const value = await this.#read(stopped, this.#state.value.value);
      if (!stopped.aborted) this.#state.value = { value, problem: undefined };
    } catch (error) {
      if (stopped.aborted) return;
      const problem = error instanceof ApiProblem ? error : new ApiProblem('BROKEN', 0, String(error));
      // An answer that was there stays: the server may be restarting, or somebody has to sign in again.
      const isGone = problem.status >= 400 && problem.status < 500 && !WAITING.includes(problem.status);
      this.#state.value = { value: isGone ? undefined : this.#state.value.value, problem };
    }
    this.#isReading = false;
    if (stopped.aborted) return;
    const tookMs = Date.now() - this.#readAt;
    this.#gapMs = Math.max(AT_MOST_EVERY_MS, REST * tookMs);
    const isUnreachable = (this.#state.value.problem?.status ?? 200) === 0;
    this.#readIn(this.#isAsked ? this.#gapMs - tookMs : isUnreachable ? 3_000 : ANYWAY_MS);
  }
}
