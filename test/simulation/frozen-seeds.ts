/** Seeds that once found something, and what. They are run before all others, whatever has become of them since. */
export const FROZEN_SEEDS: readonly (readonly [seed: number, found: string])[] = [
  [321, 'an urgent entry that a red target keeps from starting looks as if it were overtaken'],
  [362, 'a slot that a bisection gives back is not used where nothing in the line changed'],
  [550, 'what falls due while no timer is armed never happens'],
  [1013, 'targets that change while their entry is being landed look like a wrong order'],
  [1043, 'a run that waits for its twin waits for ever when the twin leaves a bisection'],
  [1435, 'a store that fails for a moment makes a landing get lost'],
  [1892, 'a landing that is carried out after it was given up moves the target again'],
  [2272, 'the same as 1013, for an entry that another one vouches for'],
  [141, 'nothing is due while the target is red'],
  [30_006, 'a search that was begun on a red head removes the innocent'],
  [30_062, 'the same as 30006, where another head is tested and passes'],
  [30_084, 'a branch protection that is gone for a moment removes three in a row'],
  [113, 'while a suspected head is under test, entries are removed for another check that is red on it'],
  [30_156, 'the head fails unit first, so those that were removed for lint do not return'],
  [30_061, 'an outage fails unit and lint in turn, so that no two failures in a row are alike'],
];
