/** One message of a stream of Server-Sent Events. */
export interface Message {
  readonly id: string | undefined;
  readonly type: string;
  readonly data: string;
}

/** Reads the text of a stream in pieces of any length. */
export class MessageReader {
  #rest = '';
  #id: string | undefined;
  #type = '';
  #data: string[] = [];

  /** Returns the messages that this piece completes. */
  read(piece: string): readonly Message[] {
    const lines = (this.#rest + piece).split(/\r\n|\n/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#readLine(line) ?? []);
  }

  #readLine(line: string): Message | undefined {
    if (line === '') return this.#end();
    if (line.startsWith(':')) return undefined;
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name === 'id') this.#id = value;
    else if (name === 'event') this.#type = value;
    else if (name === 'data') this.#data.push(value);
    return undefined;
  }

  #end(): Message | undefined {
    const message = { id: this.#id, type: this.#type || 'message', data: this.#data.join('\n') };
    const isEmpty = this.#data.length === 0;
    this.#id = undefined;
    this.#type = '';
    this.#data = [];
    return isEmpty ? undefined : message;
  }
}
