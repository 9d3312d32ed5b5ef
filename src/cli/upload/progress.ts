const CLEAR_LINE = '\r\u001b[K';
/** Often enough to move, seldom enough not to be work. */
const STEP_MS = 100;

export interface Progress {
  readonly onRead: (bytes: number) => void;
  /** Leaves nothing behind. */
  end(): void;
}

/** One line on a terminal that says how much of the files has been sent; elsewhere nothing. */
export function createProgress(
  of: { readonly files: number; readonly bytes: number },
  stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr,
  now: () => number = () => performance.now(),
): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY;
  if (!stream.isTTY) return { onRead: () => undefined, end: () => undefined };
  return {
    onRead: (bytes) => {
      const at = now();
      if (at - drawnAt < STEP_MS && bytes < of.bytes) return;
      drawnAt = at;
      const share = of.bytes === 0 ? 100 : Math.min(100, Math.floor((bytes / of.bytes) * 100));
      stream.write(`${CLEAR_LINE}Uploading ${formatFiles(of.files)}, ${formatBytes(of.bytes)}: ${share}%`);
    },
    end: () => {
      if (drawnAt !== Number.NEGATIVE_INFINITY) stream.write(CLEAR_LINE);
    },
  };
}

export function formatFiles(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
