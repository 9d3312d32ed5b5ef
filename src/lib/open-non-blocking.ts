import { constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * A descriptor of the same file, pipe, socket or terminal on which a write never waits for the reader: it takes some
 * bytes, or fails with EAGAIN.
 */
export function openNonBlocking(fd: number): number {
  const kind = fstatSync(fd);
  if (kind.isFile()) return fd;
  try {
    // Opened anew: the flag of an inherited descriptor belongs to every process that shares it.
    if (!kind.isSocket()) return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // No /proc on this system, or the pipe or terminal belongs to another user.
  }
  // A socket cannot be opened anew. Node sets the flag of what it takes for a stream.
  if (kind.isSocket() || kind.isFIFO()) new Socket({ fd, readable: false, writable: true }).unref();
  return fd;
}
