/**
 * Seeds that found a bug once, and which. They run before all others. A seed goes when the draws change what happens in
 * it: those that began to confirm failures went, and the stories of their rules stay.
 */
export const FROZEN_SEEDS: readonly (readonly [seed: number, found: string])[] = [
  [321, 'an urgent entry that a red target keeps from starting looks as if it were overtaken'],
  [1043, 'a run that waits for its twin waits for ever when the twin leaves a bisection'],
  [1892, 'a landing that is carried out after it was given up moves the target again'],
  [30_006, 'a search that was begun on a red head removes the innocent'],
  [30_084, 'a branch protection that is gone for a moment removes three in a row'],
  [50_247, 'a pass whose check is judged later is remembered as it was before'],
  [50_148, 'a branch that comes back to a suspected head is above suspicion'],
  [70_578, 'a rewind during a pause hides two removals on one head'],
  [10_440, 'a run whose required checks were reviewed passes for an equal tree that needs more'],
  [11_227, 'a suspected head that could not be built once is above suspicion'],
  [21_371, 'a rebase conflicts where a merge would not'],
  [30_766, 'a waiver of a check that is not required any more parks the queue'],
  [31_282, 'a tree that could not be composed is tested again when it could land as it is'],
  [101_969, 'a pull request brings back what a rewind took, and its targets do not say so'],
  [110_407, 'a landing takes back what speaks against the head, and somebody takes back the landing'],
  [130_049, 'an operator goes on on a red head, and a third is removed there'],
  [40_276, 'three fail beside a landing, on a commit that is red'],
  [202_306, 'one that failed on top of a landing does not return when the landing is taken back'],
  [201_230, 'an urgent entry that may not interrupt looks as if it were overtaken'],
  [1_104_932, 'CI that works again does not show that it worked when an entry failed'],
  [1_124_670, 'the base of a search passed by itself, and its runs do not know it'],
  [1_173_526, 'a run that passes before and after an outage refutes that the head failed by itself in it'],
  [1_201_330, 'a run that passes after an outage refutes a suspicion from the outage'],
  [40, 'somebody is blamed for a check that is not required any more'],
  [600_149, 'who fails in a search on top of what it cleared is no evidence against the base'],
  [20_401, 'two servers judge the reports of one pass after it landed'],
  [68, 'flakes become more likely while a removal waits for the head, and the run that it takes then is never begun'],
];
