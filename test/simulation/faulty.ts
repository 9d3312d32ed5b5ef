import { Fault, type FaultCode } from '../../src/lib/fault.ts';
import type { Prng } from '../../src/lib/prng.ts';
import { never, type SimProcess } from './sim-process.ts';
import type { SimWorld } from './sim-world.ts';

/** How a call goes wrong. Each is a probability per call; absent means never. */
export interface FaultRates {
  /** An immediate error without any effect: 5xx, 429, connection refused. */
  readonly refused?: number;
  /** The call is executed, and the answer is an error. */
  readonly lost?: number;
  /** No answer for `timeoutMs`, then an error. The call has no effect. */
  readonly timedOutBefore?: number;
  /** The call is executed, then no answer for `timeoutMs`, then an error. */
  readonly timedOutAfter?: number;
  /** No answer, then an error, and only then the call is executed. It may overtake the caller's next call. */
  readonly doneAfterTimeout?: number;
  /** The caller's process crashes before the call is executed. */
  readonly crashBefore?: number;
  /** The call is executed, and the caller's process crashes before the answer arrives. */
  readonly crashAfter?: number;
}

type FaultKind = keyof FaultRates;

export interface FaultyOptions {
  readonly world: SimWorld;
  /** The calling process. Its calls stop when it crashes. */
  readonly process: SimProcess;
  /** The name of the port in the fault counts. */
  readonly name: string;
  /** The code of its errors. */
  readonly code: FaultCode;
  readonly random: Prng;
  readonly rates: FaultRates | ((method: string) => FaultRates);
  /** How long a call takes. Absent: no time. */
  readonly delayMs?: readonly [min: number, max: number];
  /** The share of calls that take any time. */
  readonly delayRate?: number;
  readonly timeoutMs?: number;
  /** Properties with another value, such as `isShared`. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

export const FAULT_KINDS: readonly FaultKind[] = [
  'refused',
  'lost',
  'timedOutBefore',
  'timedOutAfter',
  'doneAfterTimeout',
  'crashBefore',
  'crashAfter',
];
const TIMEOUT_MS = 30_000;
/** Methods without faults. */
const SPARED = ['close'];
/** Methods that answer synchronously and never fail. */
const SYNCHRONOUS = ['testBranchOf'];

/**
 * A port as one process sees it over a bad connection. The methods are the same, but some fail, some of them after they
 * were executed. Nested objects are wrapped too; other values are passed through.
 */
export function faulty<Port extends object>(port: Port, options: FaultyOptions): Port {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(port, {
    get(target, property) {
      const { overrides } = options;
      if (overrides !== undefined && Object.hasOwn(overrides, property)) return overrides[property as string];
      if (wrapped.has(property)) return wrapped.get(property);
      const value: unknown = Reflect.get(target, property);
      if (!isObject(value) || ArrayBuffer.isView(value)) return value;
      const wrapper =
        typeof value === 'function'
          ? method(options, String(property), (args) => Reflect.apply(value, target, args))
          : faulty(value, { ...options, name: `${options.name}.${String(property)}` });
      wrapped.set(property, wrapper);
      return wrapper;
    },
  });
}

function method(options: FaultyOptions, name: string, act: (args: readonly unknown[]) => unknown) {
  if (SYNCHRONOUS.includes(name)) return (...args: readonly unknown[]) => act(args);
  return (...args: readonly unknown[]) => call(options, name, async () => act(args));
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

async function call(options: FaultyOptions, method: string, act: () => Promise<unknown>): Promise<unknown> {
  const { world, process } = options;
  if (!process.isAlive) return never();
  if (SPARED.includes(method)) return process.hear(world.track(act));
  const fault = draw(options, method);
  const delays = [delayOf(options), delayOf(options)] as const;
  return process.hear(carryOut(options, { fault, act, delays }));
}

interface Call {
  readonly fault: FaultKind | undefined;
  readonly act: () => Promise<unknown>;
  /** On the way there and back. */
  readonly delays: readonly [number, number];
}

async function carryOut(options: FaultyOptions, { fault, act, delays: [there, back] }: Call): Promise<unknown> {
  const { world, process, timeoutMs = TIMEOUT_MS } = options;
  await wait(world, there);
  // A call that had not been sent when its process crashed is never sent.
  if (!process.isAlive) return never();
  if (fault !== undefined && !world.isCalm) world.count(`${options.name}.${fault}`);
  switch (world.isCalm ? undefined : fault) {
    case undefined: {
      const answer = await world.track(act);
      await wait(world, back);
      return answer;
    }
    case 'refused':
      throw error(options, 'answers with an error');
    case 'lost':
      await world.track(act);
      await wait(world, back);
      throw error(options, 'answers with an error');
    case 'timedOutBefore':
      await world.pause(timeoutMs);
      throw error(options, 'does not answer');
    case 'timedOutAfter':
      await world.track(act);
      await world.pause(timeoutMs);
      throw error(options, 'does not answer');
    case 'doneAfterTimeout':
      world.schedule(timeoutMs + there + back + 1, () => void world.track(act).catch(() => undefined));
      await world.pause(timeoutMs);
      throw error(options, 'does not answer');
    case 'crashBefore':
      process.crash();
      return never();
    case 'crashAfter':
      await world.track(act);
      process.crash();
      return never();
  }
}

function wait(world: SimWorld, ms: number): Promise<void> | undefined {
  return ms === 0 ? undefined : world.pause(ms);
}

function delayOf({ random, delayMs, delayRate = 1 }: FaultyOptions): number {
  if (delayMs === undefined || !random.chance(delayRate)) return 0;
  return random.between(...delayMs);
}

/** A call has at most one fault. */
function draw({ random, rates }: FaultyOptions, method: string): FaultKind | undefined {
  const of = typeof rates === 'function' ? rates(method) : rates;
  let left = random.next();
  for (const kind of FAULT_KINDS) {
    left -= of[kind] ?? 0;
    if (left < 0) return kind;
  }
  return undefined;
}

function error({ code, name }: FaultyOptions, what: string): Fault {
  return new Fault(code, `Simulated: ${name} ${what}.`);
}
