import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { PassThrough, pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { StreamedBody } from '../core/client.ts';
import { type Packing, packingOf, type ReportFile, readHead } from './find-reports.ts';

interface MultipartContent {
  /** Empty ones are left out. */
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly ReportFile[];
  /** The CODEOWNERS file for the tests' files. */
  readonly codeOwners?: ReportFile | undefined;
  /** Called with the total of file bytes read so far. */
  readonly onRead?: (bytes: number) => void;
}

/** Smaller files gain nothing from compression. */
const PACK_FROM_BYTES = 64 * 1024;

/** The reports and their fields, read from disk while they are sent; large files are compressed on the way. */
export function createMultipart({ fields, files, codeOwners, onRead }: MultipartContent): StreamedBody {
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
  // `pipeline` forwards an error of either stream.
  const packer = isPacked(file, packing) ? createGzip({ level: 4 }) : new PassThrough();
  const out: Readable = pipeline(source, packer, () => undefined);
  yield* out;
}

/** As browsers do it. */
function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
