/** What `core.sharedRepository` adds to the modes of files, or (`isExact`) what it makes of them. */
export interface Sharing {
  readonly bits: number;
  readonly isExact: boolean;
}

const NAMED: Readonly<Record<string, number>> = {
  umask: 0,
  group: 0o660,
  all: 0o664,
  world: 0o664,
  everybody: 0o664,
};

/** As git reads the value. Undefined where it leaves modes to the umask. */
export function parseSharing(value: string | undefined): Sharing | undefined {
  const bits = value === undefined ? 0 : (NAMED[value] ?? parseBits(value));
  if (bits === 0) return undefined;
  return { bits: Math.abs(bits), isExact: bits < 0 };
}

/** Negative for a mode that is meant exactly. */
function parseBits(value: string): number {
  if (!/^[0-7]*$/.test(value)) return /^(?:true|yes|on)$/i.test(value) ? 0o660 : 0;
  const mode = Number.parseInt(value || '0', 8);
  // What these numbers meant to git before it took modes.
  if (mode <= 2) return [0, 0o660, 0o664][mode] ?? 0;
  return -(mode & 0o666);
}

export function sharedFileMode(mode: number, sharing: Sharing): number {
  const writable = (mode & 0o200) === 0 ? 0o444 : 0o666;
  const executable = (mode & 0o100) === 0 ? 0 : (sharing.bits & 0o444) >> 2;
  const bits = (sharing.bits & writable) | executable;
  return sharing.isExact ? bits : (mode & 0o777) | bits;
}

/** What is made in a folder of a group belongs to that group. */
export function sharedFolderMode(mode: number, sharing: Sharing): number {
  const shared = sharedFileMode(mode, sharing);
  const searchable = shared | ((shared & 0o444) >> 2);
  return (searchable & 0o060) === 0 ? searchable : searchable | 0o2000;
}
