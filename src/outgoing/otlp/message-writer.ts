const VARINT = 0;
const EIGHT_BYTES = 1;
const LENGTH_DELIMITED = 2;

/**
 * Writes a message of Protocol Buffers from its end to its begin: a length stands before what it is the length of, and is
 * known after it. Fields are given in reverse.
 */
export class MessageWriter {
  #buffer: Buffer;
  /** The first byte that is written. */
  #begin: number;

  constructor(room: number) {
    this.#buffer = Buffer.allocUnsafe(Math.max(1_024, room));
    this.#begin = this.#buffer.length;
  }

  finish(): Buffer {
    return this.#buffer.subarray(this.#begin);
  }

  message(field: number, writeFields: () => void): void {
    const before = this.#length;
    writeFields();
    this.#varint(this.#length - before);
    this.#tag(field, LENGTH_DELIMITED);
  }

  text(field: number, text: string, encoding: 'utf8' | 'hex' = 'utf8'): void {
    const length = Buffer.byteLength(text, encoding);
    const at = this.#take(length);
    this.#buffer.write(text, at, encoding);
    this.#varint(length);
    this.#tag(field, LENGTH_DELIMITED);
  }

  integer(field: number, value: number): void {
    if (value >= 0) this.#varint(value);
    else this.#bytes(negativeVarint(value));
    this.#tag(field, VARINT);
  }

  fixed64(field: number, value: bigint): void {
    const at = this.#take(8);
    this.#buffer.writeBigUInt64LE(value, at);
    this.#tag(field, EIGHT_BYTES);
  }

  double(field: number, value: number): void {
    const at = this.#take(8);
    this.#buffer.writeDoubleLE(value, at);
    this.#tag(field, EIGHT_BYTES);
  }

  get #length(): number {
    return this.#buffer.length - this.#begin;
  }

  #tag(field: number, wireType: number): void {
    this.#varint(field * 8 + wireType);
  }

  #varint(value: number): void {
    if (value < 0x80) {
      const at = this.#take(1);
      this.#buffer[at] = value;
    } else this.#bytes(varint(value));
  }

  #bytes(bytes: readonly number[]): void {
    const at = this.#take(bytes.length);
    this.#buffer.set(bytes, at);
  }

  /** Makes room before the rest. Returns where it begins. */
  #take(size: number): number {
    if (size > this.#begin) {
      const larger = Buffer.allocUnsafe((this.#buffer.length + size) * 2);
      const written = this.finish();
      this.#begin = larger.length - written.length;
      written.copy(larger, this.#begin);
      this.#buffer = larger;
    }
    this.#begin -= size;
    return this.#begin;
  }
}

function varint(value: number): readonly number[] {
  const written: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) written.push((rest % 128) + 128);
  return [...written, rest];
}

/** Ten bytes, as two's complement in 64 bits. */
function negativeVarint(value: number): readonly number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const written: number[] = [];
  for (; rest > 0x7fn; rest >>= 7n) written.push(Number(rest & 0x7fn) + 128);
  return [...written, Number(rest)];
}
