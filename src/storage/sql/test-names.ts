import { setImmediate as turn } from 'node:timers/promises';
import { all, first, type SqlEngine } from './operation.ts';
import type { StatementCompiler } from './statement.ts';

/** So many are read in a few milliseconds, and requests are answered before the next. */
const PAGE = 5_000;
/** Characters of all repositories together, about a byte each: 200,000 tests have 27 million. */
const MOST_CHARACTERS = 100_000_000;

/** Tests whose text contains what was looked for. */
export interface NamedTests {
  readonly count: number;
  /** In ascending order. */
  readonly numbers: readonly number[];
  has(testNo: number): boolean;
}

interface Names {
  readonly version: number;
  readonly numbers: number[];
  readonly texts: string[];
  characters: number;
}

/**
 * Finds tests by a part of their name, class, file or suite. A database takes a quarter of a second to look through 200,000
 * texts, whichever index has them; in memory it takes ten milliseconds. They are read at the first search of a repository;
 * later searches read new tests alone, and all of them again after one was renamed or forgotten.
 */
export class TestNames {
  readonly #engine: SqlEngine;
  readonly #statements: ReturnType<typeof nameStatements>;
  /** The least recently searched repository is first. */
  readonly #known = new Map<string, Names>();
  readonly #refreshing = new Map<string, Promise<Names>>();

  constructor(engine: SqlEngine, compiler: StatementCompiler) {
    this.#engine = engine;
    this.#statements = nameStatements(compiler);
  }

  async find(repositoryId: string, text: string): Promise<NamedTests> {
    const { numbers, texts } = await this.#refresh(repositoryId);
    const wanted = text.toLowerCase();
    const found: number[] = [];
    const marks = new Uint8Array((numbers.at(-1) ?? 0) + 1);
    // An iterator of entries takes as long as the search itself.
    for (let index = 0; index < texts.length; index += 1) {
      if (texts[index]?.includes(wanted) !== true) continue;
      const testNo = numbers[index] as number;
      found.push(testNo);
      marks[testNo] = 1;
    }
    return { count: found.length, numbers: found, has: (testNo) => marks[testNo] === 1 };
  }

  /** Searches that come while one reads the names wait for it. */
  #refresh(repositoryId: string): Promise<Names> {
    const underWay = this.#refreshing.get(repositoryId);
    if (underWay !== undefined) return underWay;
    const refreshing = this.#read(repositoryId).finally(() => this.#refreshing.delete(repositoryId));
    this.#refreshing.set(repositoryId, refreshing);
    return refreshing;
  }

  async #read(repositoryId: string): Promise<Names> {
    const { findNames } = this.#statements;
    const sequence = await this.#engine.read(() => first(findNames, { repositoryId }));
    const { names_version: version = 0, last_test_no: last = 0 } = sequence ?? {};
    const known = this.#known.get(repositoryId);
    const isKnown = known?.version === version && (await this.#isStored(repositoryId, known));
    const names = isKnown ? known : { version, numbers: [], texts: [], characters: 0 };
    for (let after = names.numbers.at(-1) ?? 0; after < last; ) {
      const rows = await this.#list(repositoryId, after, PAGE);
      for (const { no, search_text } of rows) {
        names.numbers.push(no);
        names.texts.push(search_text);
        names.characters += search_text.length;
      }
      after = rows.length < PAGE ? last : (rows.at(-1)?.no ?? last);
      if (after < last) await turn();
    }
    this.#keep(repositoryId, names);
    return names;
  }

  /** After a restore the last test that is known may be missing, or be another one. */
  async #isStored(repositoryId: string, { numbers, texts }: Names): Promise<boolean> {
    const last = numbers.at(-1);
    if (last === undefined) return true;
    const [row] = await this.#list(repositoryId, last - 1, 1);
    return row?.no === last && row.search_text === texts.at(-1);
  }

  #list(repositoryId: string, after: number, limit: number) {
    return this.#engine.read(() => all(this.#statements.listNames, { repositoryId, after, limit }));
  }

  #keep(repositoryId: string, names: Names): void {
    this.#known.delete(repositoryId);
    this.#known.set(repositoryId, names);
    let total = [...this.#known.values()].reduce((sum, { characters }) => sum + characters, 0);
    for (const [other, { characters }] of this.#known) {
      if (total <= MOST_CHARACTERS || other === repositoryId) return;
      this.#known.delete(other);
      total -= characters;
    }
  }
}

function nameStatements(compiler: StatementCompiler) {
  const { builder } = compiler.dialect;
  return {
    findNames: compiler.statement<{ repositoryId: string }>()((param) =>
      builder
        .selectFrom('test_sequences')
        .select(['names_version', 'last_test_no'])
        .where('repository_id', '=', param('repositoryId')),
    ),
    listNames: compiler.statement<{ repositoryId: string; after: number; limit: number }>()((param) =>
      builder
        .selectFrom('tests')
        .select(['no', 'search_text'])
        .where('repository_id', '=', param('repositoryId'))
        .where('no', '>', param('after'))
        .orderBy('no')
        .limit(param('limit')),
    ),
  };
}
