import { never, type SimProcess } from '../sim-process.ts';

/** A port as one life of a server sees it. After its end no call is executed and no answer arrives. */
export function cutOff<Port extends object>(
  port: Port,
  process: SimProcess,
  overrides: Readonly<Record<string, unknown>> = {},
): Port {
  const wrapped = new Map<string | symbol, unknown>();
  return new Proxy(port, {
    get(target, property) {
      if (Object.hasOwn(overrides, property)) return overrides[property as string];
      if (wrapped.has(property)) return wrapped.get(property);
      const value: unknown = Reflect.get(target, property);
      if (!isWrappable(value)) return value;
      const wrapper =
        typeof value === 'function'
          ? (...args: readonly unknown[]) => call(process, () => Reflect.apply(value, target, args))
          : cutOff(value, process);
      wrapped.set(property, wrapper);
      return wrapper;
    },
  });
}

function isWrappable(value: unknown): value is object {
  if (typeof value === 'function') return true;
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) && !(value instanceof Map);
}

function call(process: SimProcess, act: () => unknown): unknown {
  if (!process.isAlive) return never();
  const answer = act();
  return answer instanceof Promise ? process.hear(answer) : answer;
}
