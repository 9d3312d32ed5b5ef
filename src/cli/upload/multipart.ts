import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { type Packing, packingOf, type ReportFile, readHead } from './find-reports.ts';

export interface Multipart {
  readonly contentType: string;
  /** Anew each time: an upload may be tried again. */
  bytes(): AsyncGenerator<Uint8Array>;
}

export interface MultipartContent {
  /** Those that are empty are left out. */
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly ReportFile[];
  /** Who owns the files that tests are in. */
  readonly codeOwners?: ReportFile | undefined;
  /** How many bytes of the files have been read in all. */
  readonly onRead?: (bytes: number) => void;
}

/** Smaller files gain nothing by it. */
const PACK_FROM_BYTES = 64 * 1024;

/** The reports and what is said of them, read from the disk as they are sent; large ones are packed on the way. */
export function createMultipart({ fields, files, codeOwners, onRead }: MultipartContent): Multipart {
  const boundary = `sluice-${randomUUID()}`;
  const head = (lines: readonly string[]): Uint8Array =>
    Buffer.from(`--${boundary}\r\n${lines.join('\r\n')}\r\n\r\n`, 'utf8');
  const end = Buffer.from('\r\n');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    async *bytes() {
      for (const [name, value] of Object.entries(fields)) {
        if (value === '') continue;
        yield head([`Content-Disposition: form-data; name="${name}"`]);
        yield Buffer.from(value);
        yield end;
      }
      let read = 0;
      for (const file of codeOwners === undefined ? files : [codeOwners, ...files]) {
        const packing = packingOf(await readHead(file.path));
        yield head(headersOf(file, packing, file === codeOwners ? 'codeowners' : 'files'));
        const count = (bytes: number): void => {
          read += bytes;
          onRead?.(read);
        };
        yield* bytesOf(file, packing, count);
        yield end;
      }
      yield Buffer.from(`--${boundary}--\r\n`);
    },
  };
}

function isPacked(file: ReportFile, packing: Packing): boolean {
  return packing === 'none' && file.sizeBytes >= PACK_FROM_BYTES;
}

function headersOf(file: ReportFile, packing: Packing, part: 'files' | 'codeowners'): string[] {
  const encoding = isPacked(file, packing) ? 'gzip' : packing;
  return [
    `Content-Disposition: form-data; name="${part}"; filename="${escapeName(file.name)}"`,
    `Content-Type: ${part === 'files' ? 'application/xml' : 'text/plain'}`,
    ...(encoding === 'none' ? [] : [`Content-Encoding: ${encoding}`]),
  ];
}

async function* bytesOf(
  file: ReportFile,
  packing: Packing,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const source = createReadStream(file.path, { highWaterMark: 256 * 1024 });
  source.on('data', (chunk: string | Buffer) => count(chunk.length));
  // A failure of one is a failure of the other.
  const packer = isPacked(file, packing) ? createGzip({ level: 4 }) : new PassThrough();
  const out: Readable = pipeline(source, packer, () => undefined);
  yield* out;
}

/** As browsers do it. */
function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
