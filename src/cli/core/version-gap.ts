import { readVersion } from '../../lib/version.ts';
import { clean } from './terminal.ts';

/** A sentence about a server whose version differs before the last dot; undefined if either is unknown. */
export function describeVersionGap(server: string, own: string = readVersion()): string | undefined {
  const order = compareVersions(server, own);
  if (order === 0) return undefined;
  const advice = order > 0 ? 'Update this command' : 'Update the server';
  return `The server has version ${clean(server)}, this command ${own}. ${advice} if an answer looks wrong.`;
}

/** Positive if `a` is newer. A fix changes no answer, so only the first two numbers count. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => /^(\d+)\.(\d+)\./.exec(text)?.slice(1).map(Number));
  if (left === undefined || right === undefined) return 0;
  const differs = left.findIndex((part, index) => part !== right[index]);
  return differs === -1 ? 0 : (left[differs] as number) - (right[differs] as number);
}
