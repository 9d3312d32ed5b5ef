import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';

/** A line that is longer ends the link. Bodies of the operations that are passed on are far smaller. */
const LINE_LIMIT = 8 * 1024 * 1024;

/** Lines that follow each other within this time leave in one packet. */
const GATHER_MS = 2;

/** A connection that carries one JSON value a line. */
export class Frames {
  readonly #socket: Socket;
  #waiting = '';

  constructor(socket: Socket, onLine: (line: string) => void) {
    this.#socket = socket;
    socket.setNoDelay(true);
    const decoder = new StringDecoder('utf8');
    let rest = '';
    socket.on('data', (chunk: Buffer) => {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() as string;
      if (rest.length > LINE_LIMIT) socket.destroy();
      try {
        for (const line of lines) onLine(line);
      } catch {
        // The other side speaks another protocol. Its requests are done without the link.
        socket.destroy();
      }
    });
    // 'close' follows and is handled there.
    socket.on('error', () => {});
  }

  write(line: string): void {
    if (this.#waiting === '') setTimeout(() => this.#flush(), GATHER_MS);
    this.#waiting += `${line}\n`;
  }

  #flush(): void {
    const text = this.#waiting;
    this.#waiting = '';
    if (this.#socket.writable) this.#socket.write(text);
  }
}
