/** Mode bits that `core.sharedRepository` adds to files, or (`isExact`) the mode that it sets. */
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

/** Parses the value like git. Undefined when the umask decides. */
export function parseSharing(value: string | undefined): Sharing | undefined {
  const bits = value === undefined ? 0 : (NAMED[value] ?? parseBits(value));
  if (bits === 0) return undefined;
  return { bits: Math.abs(bits), isExact: bits < 0 };
}

/** Negative for an exact mode. */
function parseBits(value: string): number {
  if (!/^[0-7]*$/.test(value)) return /^(?:true|yes|on)$/i.test(value) ? 0o660 : 0;
  const mode = Number.parseInt(value || '0', 8);
  // Git's old numeric values, from before it accepted modes.
  if (mode <= 2) return [0, 0o660, 0o664][mode] ?? 0;
  return -(mode & 0o666);
}

export function sharedFileMode(mode: number, sharing: Sharing): number {
  const writable = (mode & 0o200) === 0 ? 0o444 : 0o666;
  const executable = (mode & 0o100) === 0 ? 0 : (sharing.bits & 0o444) >> 2;
  const bits = (sharing.bits & writable) | executable;
  return sharing.isExact ? bits : (mode & 0o777) | bits;
}

/** Files in a group's folder belong to that group (setgid). */
export function sharedFolderMode(mode: number, sharing: Sharing): number {
  const shared = sharedFileMode(mode, sharing);
  const searchable = shared | ((shared & 0o444) >> 2);
  return (searchable & 0o060) === 0 ? searchable : searchable | 0o2000;
}
