import type { Prng } from '../../src/lib/prng.ts';
import type { FakeCi } from '../fake/fake-ci.ts';
import type { FakeForge } from '../fake/fake-forge.ts';
import type { Conditions } from './conditions.ts';
import type { People } from './people.ts';
import type { SimWorld } from './sim-world.ts';

/**
 * Troubles that affect the whole world at once and make innocent changes look guilty. Adding one changes what every
 * seed draws, so the frozen seeds must be searched again.
 */
export const TROUBLES = [
  'red target',
  'red target',
  'red target, mended soon',
  'outage',
  'outage',
  'protection gone',
  'pause',
  'pause',
  'urgent ones',
  'restarts',
  'optimism',
  'mode switch',
  'clashes',
  'a pair',
  'new targets',
  'pauses in a landing',
] as const;
export type Trouble = (typeof TROUBLES)[number];

export interface TroublesOptions {
  readonly world: SimWorld;
  readonly conditions: Conditions;
  readonly random: Prng;
  readonly people: People;
  readonly ci: FakeCi;
  readonly forge: FakeForge;
}

/** Causes the troubles that a seed plans. The calm phase ends lasting ones. */
export class Troubles {
  readonly #options: TroublesOptions;
  #landingsToPause = 0;

  constructor(options: TroublesOptions) {
    this.#options = options;
  }

  begin(): void {
    const { world, conditions, random } = this.#options;
    for (const trouble of conditions.troubles) {
      world.schedule(random.between(2_000, Math.round(conditions.busyMs * 0.9)), () => this.#bring(trouble));
    }
  }

  calm(): void {
    const { ci, forge, conditions } = this.#options;
    ci.outage = undefined;
    forge.protection = conditions.protection;
    forge.isBroken = false;
  }

  #bring(trouble: Trouble): void {
    const { world, people, random } = this.#options;
    if (world.isCalm) return;
    world.count(`trouble.${trouble}`);
    people.note(trouble);
    switch (trouble) {
      case 'red target':
        return people.breakTarget([15_000, 90_000]);
      case 'red target, mended soon':
        return people.breakTarget([2_000, 12_000]);
      case 'outage':
        return this.#breakCi();
      case 'protection gone':
        return this.#dropProtection();
      case 'pause':
        return people.halt();
      case 'urgent ones':
        return this.#several(() => people.hurry());
      case 'restarts':
        return this.#several(() => people.restartSome());
      case 'optimism':
        return people.update({ canOptimisticallyMerge: random.chance(0.5) }, undefined);
      case 'mode switch':
        return people.changeMode();
      case 'clashes':
        return this.#several(() => people.openSome('clash'));
      case 'pauses in a landing':
        this.#landingsToPause = 3;
        return;
      case 'new targets':
        return people.retargetWhileLanding();
      case 'a pair':
        people.openSome('left');
        return people.openSome('right');
    }
  }

  /** The landing has begun. The forge stops answering, and when it answers again, the queue is paused. */
  hearOfLanding(): void {
    const { world, forge, people } = this.#options;
    if (this.#landingsToPause === 0 || world.isCalm) return;
    this.#landingsToPause -= 1;
    forge.isBroken = true;
    people.pauseFor([5_000, 15_000]);
    this.#later([1_000, 2_000], () => {
      forge.isBroken = false;
    });
  }

  #several(act: () => void): void {
    const { random } = this.#options;
    for (let left = random.between(1, 3); left > 0; left -= 1) act();
  }

  #breakCi(): void {
    const { ci, random } = this.#options;
    ci.outage = random.pick(['failing', 'failing', 'silent'] as const);
    this.#later([4_000, 60_000], () => {
      ci.outage = undefined;
    });
  }

  #dropProtection(): void {
    const { forge, conditions } = this.#options;
    forge.protection = [];
    this.#later([2_000, 30_000], () => {
      forge.protection = conditions.protection;
    });
  }

  #later([min, max]: readonly [number, number], act: () => void): void {
    const { world, random } = this.#options;
    world.schedule(random.between(min, max), act);
  }
}
