import { readVersion } from '../../lib/version.ts';
import { clean } from './terminal.ts';

/** A sentence about a server whose version differs before the last dot; undefined if either is unknown. */
export function describeVersionGap(server: string, own: string = readVersion()): string | undefined {
  const order = compareNumbers(numbersOf(server)?.slice(0, 2), numbersOf(own)?.slice(0, 2));
  if (order === undefined || order === 0) return undefined;
  const advice = order > 0 ? 'Update this command' : 'Update the server';
  return `The server has version ${clean(server)}, this command ${own}. ${advice} if an answer looks wrong.`;
}

// SPEC W58
export function judgeVersions(server: string, own: string) {
  const [theirs, ours] = [numbersOf(server), numbersOf(own)];
  const order = compareNumbers(theirs, ours);
  if (theirs === undefined || ours === undefined || order === undefined) {
    return { worksTogether: false, sentence: 'It does not say which version it has: update it.' };
  }
  const isSameMinor = compareNumbers(theirs.slice(0, 2), ours.slice(0, 2)) === 0;
  const isOlderCommand = theirs[0] === ours[0] && theirs[0] !== 0 && order > 0;
  if (order === 0) return { worksTogether: true, sentence: 'Both have the same version.' };
  const compared = order > 0 ? 'This command is older than the server' : 'This command is newer than the server';
  if (isSameMinor || isOlderCommand) return { worksTogether: true, sentence: `${compared}. They work together.` };
  const advice = order > 0 ? 'Update this command' : 'Update the server';
  return { worksTogether: false, sentence: `${compared}. They may not work together. ${advice}.` };
}

function numbersOf(version: string): readonly number[] | undefined {
  return /^(\d+)\.(\d+)\.(\d+)/.exec(version)?.slice(1).map(Number);
}

/** Positive if `a` is newer; undefined if either is unknown. */
function compareNumbers(a: readonly number[] | undefined, b: readonly number[] | undefined): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  const differs = a.findIndex((part, index) => part !== b[index]);
  return differs === -1 ? 0 : (a[differs] as number) - (b[differs] as number);
}
