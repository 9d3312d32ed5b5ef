import { joinPackages } from './join-packages.ts';
import type { Manifest, PlaceInput, Rules } from './lanes.ts';
import { parseRules } from './parse-rules.ts';
import { placeFiles } from './place-files.ts';

/** Inputs and results are plain values that can be sent to a thread. */
export const TASKS = {
  parse: (configuration: Uint8Array) => parseRules(configuration),
  join: ({ rules, manifests }: { readonly rules: Rules; readonly manifests: readonly Manifest[] }) =>
    joinPackages(rules, manifests),
  place: (input: PlaceInput) => placeFiles(input),
};
