import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AskGit, hasObject, readObject } from '../git-files/object-files.ts';
import { readRefs } from '../git-files/ref-files.ts';

/** Refs that git does not show to those who fetch, and to those who push. */
export const HIDDEN = { uploadpack: ['refs/scratch'], receive: ['refs/pull', 'refs/scratch'] } as const;

const FLUSH = '0000';

export function packetOf(line: string): string {
  return (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line;
}

/** The texts of packets up to the first flush packet. */
export function readPackets(body: Buffer): readonly string[] {
  const texts: string[] = [];
  let at = 0;
  while (at + 4 <= body.length) {
    const length = Number.parseInt(body.toString('latin1', at, at + 4), 16);
    if (length > 4) texts.push(body.toString('utf8', at + 4, at + length));
    // 1 separates two sections.
    else if (length !== 1) break;
    at += Math.max(4, length);
  }
  return texts;
}

/** Answers `ls-refs` of git's protocol as `git upload-pack` does. Any other request is left to git. */
export function listRefs(gitDir: string, body: Buffer): Buffer {
  const [command, ...args] = readPackets(body).map((text) => text.trimEnd());
  if (command !== 'command=ls-refs') throw new AskGit('not a list of refs');
  const prefixes = args.filter((arg) => arg.startsWith('ref-prefix ')).map((arg) => arg.slice('ref-prefix '.length));
  const isWanted = (ref: string) => prefixes.length === 0 || prefixes.some((prefix) => ref.startsWith(prefix));
  const refs = visibleRefs(gitDir, HIDDEN.uploadpack);
  const [target, head] = headOf(gitDir, refs);
  const symref = args.includes('symrefs') ? ` symref-target:${target}` : '';
  const lines = isWanted('HEAD') ? [`${head} HEAD${symref}\n`] : [];
  for (const [ref, sha] of refs) if (isWanted(ref)) lines.push(`${checked(gitDir, ref, sha)} ${ref}\n`);
  return Buffer.from(lines.map(packetOf).join('') + FLUSH);
}

/** Says what `git receive-pack` says first: the refs, and after the first of them what git can do, as it `said`. */
export function advertiseRefs(gitDir: string, said: Buffer): Buffer {
  const abilities = readPackets(said)[0]?.trimEnd().split('\0')[1] ?? '';
  const lines = [...visibleRefs(gitDir, HIDDEN.receive)].map(([ref, sha]) => `${checked(gitDir, ref, sha)} ${ref}`);
  const [first, ...others] = lines;
  if (first === undefined || existsSync(join(gitDir, 'objects/info/alternates'))) throw new AskGit('nothing to list');
  return Buffer.from([`${first}\0${abilities}`, ...others].map((line) => packetOf(`${line}\n`)).join('') + FLUSH);
}

function visibleRefs(gitDir: string, hidden: readonly string[]): Map<string, string> {
  const isHidden = (ref: string) => hidden.some((prefix) => ref === prefix || ref.startsWith(`${prefix}/`));
  return new Map([...readRefs(gitDir)].filter(([ref]) => !isHidden(ref)));
}

function headOf(gitDir: string, refs: ReadonlyMap<string, string>): readonly [target: string, sha: string] {
  const [, target = ''] = /^ref: (\S+)/.exec(readFileSync(join(gitDir, 'HEAD'), 'utf8')) ?? [];
  const sha = refs.get(target);
  if (sha === undefined) throw new AskGit('HEAD is unborn or detached');
  return [target, sha];
}

/** Git leaves out refs without their object, and tells what an annotated tag is of. */
function checked(gitDir: string, ref: string, sha: string): string {
  if (!hasObject(gitDir, sha)) throw new AskGit(`${ref} has no file of its own`);
  if (ref.startsWith('refs/tags/') && readObject(gitDir, sha).type === 'tag') throw new AskGit(`${ref} is annotated`);
  return sha;
}
