// Requests that no ordinary client sends: bytes over a socket, at the test's own pace.
import { once } from 'node:events';
import net from 'node:net';
import type { Answer } from './harness.ts';
import { until } from './harness.ts';

export interface RawConnection {
  readonly socket: net.Socket;
  /** All bytes received so far. */
  received(): string;
  /** Set if the other side cut the connection. */
  error(): Error | undefined;
  write(bytes: string | Uint8Array): void;
  /** Resolves when the kernel takes more, or the connection is gone. */
  drain(): Promise<void>;
  /** The next whole answer; several may come over one connection. */
  answer(timeoutMs?: number): Promise<Answer>;
  closed(timeoutMs?: number): Promise<void>;
  destroy(): void;
}

export async function connect(port: number): Promise<RawConnection> {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received = '';
  let taken = 0;
  let error: Error | undefined;
  socket.setEncoding('latin1');
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.on('error', (reason) => {
    error = reason;
  });
  return {
    socket,
    received: () => received,
    error: () => error,
    write: (bytes) => void socket.write(bytes),
    drain: async () => {
      if (!socket.writableNeedDrain || socket.destroyed) return;
      const over = new AbortController();
      await Promise.race(['drain', 'close'].map((event) => once(socket, event, { signal: over.signal }))).catch(
        () => undefined,
      );
      over.abort();
    },
    answer: (timeoutMs = 60_000) =>
      until('an answer arrives', timeoutMs, async () => {
        const found = parseAnswer(received.slice(taken));
        if (found === undefined) return undefined;
        taken += found.length;
        return found.answer;
      }),
    closed: async (timeoutMs = 60_000) => {
      await until('the connection closes', timeoutMs, async () => (socket.closed ? true : undefined));
    },
    destroy: () => socket.destroy(),
  };
}

/** The first whole answer in the text, with a body of its declared length; interim ones (100) are answers too. */
function parseAnswer(text: string): { readonly answer: Answer; readonly length: number } | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = new Headers(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
  const length = end + 4 + Number(headers.get('content-length') ?? 0);
  if (text.length < length) return undefined;
  return { answer: { status: Number(statusLine.split(' ')[1]), headers, text: text.slice(end + 4, length) }, length };
}

export function head(path: string, headers: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ host: 'sluice.test', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

export function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
