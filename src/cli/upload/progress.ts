import { drawStatus } from '../core/status-line.ts';

/** Often enough to move, seldom enough to cost nothing. */
const STEP_MS = 100;

export interface Progress {
  readonly onRead: (bytes: number) => void;
  /** Erases the line. */
  end(): void;
}

/** Shows the sent share of the files on one line of a terminal; elsewhere nothing. */
export function createProgress(of: { readonly files: number; readonly bytes: number }): Progress {
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    onRead: (bytes) => {
      const at = performance.now();
      if (at - drawnAt < STEP_MS && bytes < of.bytes) return;
      drawnAt = at;
      const share = of.bytes === 0 ? 100 : Math.min(100, Math.floor((bytes / of.bytes) * 100));
      drawStatus(process.stderr, `Uploading ${formatFiles(of.files)}, ${formatBytes(of.bytes)}: ${share}%`);
    },
    end: () => drawStatus(process.stderr),
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
