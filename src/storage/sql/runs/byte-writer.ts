export interface ByteWriter {
  byte(value: number): void;
  /** An integer from 0 to 2^53. */
  unsigned(value: number): void;
  /** An integer whose double is exact. */
  signed(value: number): void;
  length(): number;
  bytes(): Uint8Array;
}

/** The longest that one number can be. */
const MAX_NUMBER_BYTES = 8;

export function createByteWriter(expected: number): ByteWriter {
  let bytes = new Uint8Array(Math.max(expected, MAX_NUMBER_BYTES));
  let length = 0;
  const grow = () => {
    const larger = new Uint8Array(bytes.length * 2);
    larger.set(bytes);
    bytes = larger;
  };
  const unsigned = (value: number) => {
    if (length + MAX_NUMBER_BYTES > bytes.length) grow();
    let rest = value;
    // Beyond 31 bits the operators on bits no longer do.
    while (rest > 0x7fffffff) {
      bytes[length++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      bytes[length++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    bytes[length++] = rest;
  };
  return {
    byte(value) {
      if (length + 1 > bytes.length) grow();
      bytes[length++] = value;
    },
    unsigned,
    signed: (value) => unsigned(value < 0 ? -value * 2 - 1 : value * 2),
    length: () => length,
    bytes: () => bytes.subarray(0, length),
  };
}
