/** Parsed `/proc/self/mountinfo`. */
export interface MountTable {
  /** Flags of the mount that contains a path, without `ro` and `rw`. */
  flagsOf(path: string): readonly string[];
  /** Mounts inside a folder. */
  beneath(folder: string): readonly { readonly path: string; readonly flags: readonly string[] }[];
}

export function parseMountTable(text: string): MountTable {
  // The last mount at a path covers the earlier ones.
  const mounts = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const [, , , , place, options] = line.split(' ');
    if (place === undefined || options === undefined) continue;
    mounts.set(
      decode(place),
      options.split(',').filter((flag) => flag !== 'rw' && flag !== 'ro'),
    );
  }
  return {
    flagsOf: (path) => {
      const covering = [...mounts.keys()].filter((place) => place === '/' || `${path}/`.startsWith(`${place}/`));
      const [nearest = '/'] = covering.toSorted((a, b) => b.length - a.length);
      return mounts.get(nearest) ?? [];
    },
    beneath: (folder) =>
      [...mounts].flatMap(([path, flags]) => (path.startsWith(`${folder}/`) ? [{ path, flags }] : [])),
  };
}

function decode(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
