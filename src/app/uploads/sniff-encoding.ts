import type { UploadFile } from '../../storage/uploads.ts';

/** Many clients send `report.xml.gz` without a declared encoding, so that the first bytes decide. */
export function sniffEncoding([a, b, c, d]: readonly number[]): UploadFile['encoding'] {
  if (a === 0x1f && b === 0x8b) return 'gzip';
  return a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd ? 'zstd' : 'identity';
}
