import { it } from 'node:test';
import { DEFAULT_SETTINGS, type QueueSettings } from '../../../src/engine/model/settings.ts';
import type { Strategy } from '../../../src/engine/model/strategy.ts';
import { Scenario } from './scenario.ts';
import { parseSettings } from './words.ts';

type Played<T> = (story: TemplateStringsArray, ...values: readonly string[]) => T;

/**
 * Plays a story on a new queue: play(BATCH)`with concurrency=2; submit A B → testing AB`. `with` at the beginning adds
 * settings to those given.
 */
export function play(settings: Partial<QueueSettings> = {}, strategy?: Strategy): Played<Scenario> {
  return (strings, ...values) => {
    const text = String.raw({ raw: strings }, ...values);
    const [all = '', given = ''] = /^\s*with ([^;\n]*)[;\n]/.exec(text) ?? [];
    const more = parseSettings(given.split(' ').filter(Boolean));
    const unknown = Object.keys(more).find((name) => !(name in DEFAULT_SETTINGS));
    if (unknown !== undefined) throw new Error(`a queue has no setting ${unknown}`);
    return new Scenario({ ...settings, ...more }, strategy).play(text.slice(all.length));
  };
}

/** A test by this name that plays a story. */
export function story(name: string, ...queue: Parameters<typeof play>): Played<void> {
  return (strings, ...values) => {
    it(name, () => void play(...queue)(strings, ...values));
  };
}
