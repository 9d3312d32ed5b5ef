// Writes the files of the uploader: tar, zstd, meta.json, and the protobuf of internal.bin.
import { zstdCompressSync } from 'node:zlib';

export interface TarFile {
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly type?: string;
  /** The size in the header, which may be wrong on purpose. */
  readonly size?: number;
}

export function tarHeader({ path, content = '', type = '0', size }: TarFile): Buffer {
  const block = Buffer.alloc(512);
  block.write(path.slice(0, 100), 0, 'utf8');
  block.write('0000644\0', 100);
  block.write(`${(size ?? Buffer.byteLength(content)).toString(8).padStart(11, '0')}\0`, 124);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar  \0', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export function tarEntry(file: TarFile): Buffer {
  const content = Buffer.from(file.content ?? '');
  return Buffer.concat([tarHeader(file), content, Buffer.alloc((512 - (content.length % 512)) % 512)]);
}

export function tar(files: readonly TarFile[]): Buffer {
  return Buffer.concat([...files.map(tarEntry), Buffer.alloc(1024)]);
}

export function bundle(files: readonly TarFile[]): Buffer {
  return zstdCompressSync(tar(files));
}

/** Splits bytes into chunks, as a disk or a network does. */
export async function* chunks(bytes: Uint8Array, size = 1_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

export function metaJson(changes: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    version: '1',
    cli_version: 'cargo=0.0.0 git=fcbc1bd2 rustc=1.80',
    org: 'acme',
    repo: {
      repo: { host: 'github.com', owner: 'acme', name: 'widgets' },
      repo_root: '/repo',
      repo_url: 'https://github.com/acme/widgets.git',
      repo_head_sha: '0123456789abcdef0123456789abcdef01234567',
      repo_head_sha_short: '0123456',
      repo_head_branch: 'refs/heads/main',
      repo_head_commit_epoch: 1_790_000_000,
      repo_head_commit_message: 'Add adding',
      repo_head_author_name: 'Dev',
      repo_head_author_email: 'dev@acme.test',
      use_uncloned_repo: false,
    },
    bundle_upload_id: 'upload-1',
    bundle_upload_id_v2: 'upload-1-v2',
    tags: [],
    file_sets: [
      {
        file_set_type: 'Junit',
        files: [
          {
            original_path: '/repo/junit.xml',
            original_path_rel: 'junit.xml',
            path: 'junit/0',
            last_modified_epoch_ns: 1,
            owners: [],
            team: null,
          },
        ],
        glob: 'junit.xml',
      },
    ],
    envs: { CUSTOM: 'true', COMMIT_BRANCH: 'main' },
    upload_time_epoch: 1_790_000_100,
    test_command: null,
    os_info: 'linux',
    quarantined_tests: [],
    failed_tests: [],
    codeowners: null,
    num_files: 1,
    num_tests: 2,
    command_line: 'trunk-analytics-cli upload',
    trunk_envs: {},
    variant: null,
    internal_bundled_file: { path: 'internal.bin', original_path: '/tmp/internal.bin', owners: [] },
    ...changes,
  });
}

/** A protobuf field: strings and bytes with their length, numbers as varints. */
export function field(number: number, value: string | Uint8Array | number | bigint): Buffer {
  if (typeof value === 'number' || typeof value === 'bigint') return Buffer.concat([varint(number * 8), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function message(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat(fields);
}

export function timestamp(seconds: number | bigint, nanos = 0): Buffer {
  return message(...(seconds === 0 ? [] : [field(1, seconds)]), ...(nanos === 0 ? [] : [field(2, nanos)]));
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}
