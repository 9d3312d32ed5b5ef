import type { SpanContext, Tracing } from '../../lib/trace.ts';
import { SpanSender, type SpanSenderOptions } from './span-sender.ts';

interface Sampling {
  /** Follows the parent's decision where there is a parent. */
  readonly isParentBased: boolean;
  /** The part of traces that is kept, from 0 to 1. */
  readonly ratio: number;
}

interface TracingOptions extends SpanSenderOptions {
  readonly sampling: Sampling;
}

export interface OpenTracing extends Tracing {
  /** Sends the rest, and gives up what is left after `withinMs`. */
  stop(withinMs: number): Promise<void>;
}

export function createTracing({ sampling, ...options }: TracingOptions): OpenTracing {
  const sender = new SpanSender(options);
  return {
    isSampled: (traceId, parent) => isSampled(sampling, traceId, parent),
    record: (span) => sender.add(span),
    counts: sender.counts,
    stop: (withinMs) => sender.stop(withinMs),
  };
}

/** Every server decides the same for a trace: the last digits of its id are as good as random. */
// SPEC M25
function isSampled({ isParentBased, ratio }: Sampling, traceId: string, parent: SpanContext | undefined): boolean {
  if (isParentBased && parent !== undefined) return parent.isSampled;
  return Number.parseInt(traceId.slice(-13), 16) < ratio * 16 ** 13;
}
