import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fault } from '../lib/fault.ts';
import type { CatFileAnswer } from './cat-file-batch.ts';
import type { KeptProcess } from './kept-process.ts';
import type { Mirror } from './mirror.ts';

export const MAX_ATTRIBUTES_BYTES = 64 * 1024;
/** Git ignores longer lines. */
const MAX_LINE_LENGTH = 2_048;
const LINE = /^[ \t\r]*("(?:[^"\\\0]|\\[^\0])*"|[^ \t\r"#!\0][^ \t\r\0]*)[ \t\r]+([^\0]*)$/;
const ATTRIBUTE = /^([-!]?)([\w.][\w.-]*)(?:=(.*))?$/;

/** A line for each pattern whose merge driver a `.gitattributes` sets. Any driver but union becomes the usual one. */
export function unionRules(text: string): string {
  if (text.length > MAX_ATTRIBUTES_BYTES || !text.includes('merge=union')) return '';
  const rules = text
    .replace(/^\xef\xbb\xbf/, '')
    .split('\n')
    .flatMap((line) => {
      const [, pattern = '', attributes = ''] = (line.length <= MAX_LINE_LENGTH && LINE.exec(line)) || [];
      const isUnion = pattern.startsWith('[attr]') ? undefined : setsUnion(attributes);
      return isUnion === undefined ? [] : [`${pattern} ${isUnion ? 'merge=union' : '!merge'}\n`];
    });
  return rules.some((rule) => rule.endsWith(' merge=union\n')) ? rules.join('') : '';
}

/** Undefined if the line says nothing about merges. Git ignores a line of which any attribute is malformed. */
function setsUnion(attributes: string): boolean | undefined {
  const found = attributes
    .split(/[ \t\r]+/)
    .filter(Boolean)
    .map((each) => ATTRIBUTE.exec(each));
  if (found.includes(null)) return undefined;
  const last = found.findLast((each) => each?.[2] === 'merge' || each?.[0] === 'binary');
  return last == null ? undefined : last[1] === '' && last[3] === 'union';
}

/** The answers of `cat-file` for the tree and the file. Throws when the file is there, but its content is lost. */
export function readUnionRules(
  tree: CatFileAnswer | undefined,
  file: CatFileAnswer | undefined,
  damaged: () => Error,
): string {
  if (tree?.kind !== 'object') throw damaged();
  if (!/100(?:644|755) \.gitattributes\0/.test(tree.bytes.toString('latin1'))) return '';
  if (file?.kind !== 'object') throw damaged();
  return unionRules(file.bytes.toString('latin1'));
}

/**
 * Makes git merge by these rules and no others. Newer git would read the attributes of a bare repository's HEAD. The
 * file is named by its content and stays, since a running process may not have read it yet.
 */
export function attributesArguments({ gitDir }: Mirror, rules: string): readonly string[] {
  const file = rules === '' ? '/dev/null' : join(gitDir, `union-${createHash('sha256').update(rules).digest('hex')}`);
  if (rules !== '') keepFile(file, rules);
  return ['-c', 'attr.tree=refs/none', '-c', `core.attributesFile=${file}`];
}

/** Git ignores a file that is missing, and a power cut may have emptied it. */
function keepFile(file: string, content: string): void {
  try {
    if (readFileSync(file, { encoding: 'latin1', flag: 'a+' }) === content) return;
    const draft = `${file}.${randomUUID()}`;
    writeFileSync(draft, content, 'latin1');
    renameSync(draft, file);
  } catch (cause) {
    throw new Fault('FORGE_UNAVAILABLE', "The server's own copy of the repository cannot be written.", { cause });
  }
}

const MAX_KEPT = 4;

/** A process for each set of rules: git reads its attributes once. */
export class ProcessByRules<Answer> {
  readonly #kept = new Map<string, KeptProcess<Answer>>();
  readonly #add: (rules: string) => KeptProcess<Answer>;

  constructor(add: (rules: string) => KeptProcess<Answer>) {
    this.#add = add;
  }

  get(rules: string): KeptProcess<Answer> {
    const found = this.#kept.get(rules);
    if (found !== undefined) return found;
    // Those that were dropped end when they are idle.
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    const added = this.#add(rules);
    this.#kept.set(rules, added);
    return added;
  }

  retire(): void {
    for (const kept of this.#kept.values()) kept.retire();
  }
}
