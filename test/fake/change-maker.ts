import type { Prng } from '../../src/lib/prng.ts';
import type { FakeChange } from './fake-repository.ts';
import type { Files } from './git-model.ts';
import { pairPath, redLine } from './is-green.ts';

/** A generated change has exactly one trait, so that its outcome can be predicted. */
export const TRAITS = ['own', 'shared', 'clash', 'twin', 'left', 'right', 'red'] as const;
export type Trait =
  /** A file of its own, which merges with everything. */
  | 'own'
  /** A line of its own in a shared file. It merges, but the path is shared. */
  | 'shared'
  /** The same line of a shared file. It conflicts with every other `clash` of the area. */
  | 'clash'
  /** The same content at the same path as every other `twin` of the area. It merges, and may change nothing. */
  | 'twin'
  /** Green alone, red together with any `right` of the area. */
  | 'left'
  | 'right'
  /** Fails one check, or all, by itself. */
  | 'red';

export interface MadeChange extends FakeChange {
  readonly trait: Trait;
  /** The areas that it truly impacts. Changes of different areas never interact. */
  readonly areas: readonly string[];
}

export interface ChangeMakerOptions {
  readonly random: Prng;
  readonly areas: readonly [string, ...string[]];
  readonly checks: readonly string[];
  /** Relative frequency of each trait. Default: 1. */
  readonly weights?: Partial<Readonly<Record<Trait, number>>>;
  /** Share of changes that touch two areas. */
  readonly wideRate?: number;
}

const LINES = 30;

/** Generates small changes, some of which conflict or fail together. */
export class ChangeMaker {
  readonly #options: ChangeMakerOptions;
  readonly #traits: readonly Trait[];
  #count = 0;

  constructor(options: ChangeMakerOptions) {
    this.#options = options;
    this.#traits = TRAITS.flatMap((trait) => Array.from({ length: options.weights?.[trait] ?? 1 }, () => trait));
  }

  /** The target branch's files before any change. */
  get initialFiles(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#options.areas.map((area) => [sharedPath(area), blankLines()]));
  }

  /** Makes a change of these files, with this trait if one is given. */
  make(current: Files, trait = this.#options.random.pick(this.#traits) ?? 'own'): MadeChange {
    this.#count += 1;
    const { random, areas: all, wideRate = 0 } = this.#options;
    const first = random.pick(all);
    const second = random.chance(wideRate) ? random.pick(all) : first;
    const areas = [...new Set([first, second])];
    const files = Object.assign({}, ...areas.map((area) => this.#filesOf(trait, area, current))) as MadeChange['files'];
    return { trait, areas, files, message: `Change ${this.#count}: ${trait} in ${areas.join(' and ')}` };
  }

  #filesOf(trait: Trait, area: string, current: Files): Readonly<Record<string, string>> {
    const { random, checks } = this.#options;
    const words = `change ${this.#count}`;
    const shared = sharedPath(area);
    switch (trait) {
      case 'own':
        return { [`${area}-own-${this.#count}`]: words };
      case 'shared':
        return { [shared]: withLine(current.get(shared), 1 + (this.#count % (LINES - 1)), words) };
      case 'clash':
        return { [shared]: withLine(current.get(shared), 0, words) };
      case 'twin':
        return { [`${area}-twin`]: 'the same for all' };
      case 'left':
      case 'right':
        return { [pairPath(area, trait)]: trait };
      case 'red':
        return { [`${area}-red-${this.#count}`]: redLine(random.chance(0.3) ? '*' : (random.pick(checks) ?? '*')) };
    }
  }
}

function sharedPath(area: string): string {
  return `${area}-shared`;
}

function blankLines(): string {
  return Array.from({ length: LINES }, (_, index) => `line ${index}`).join('\n');
}

function withLine(content: string | undefined, index: number, line: string): string {
  return (content ?? blankLines()).split('\n').with(index, line).join('\n');
}
