/** Another wrote the same thing meanwhile, and nobody knows whose words came last: it is said once more. No failure. */
export class Overtaken extends Error {
  constructor() {
    super('Somebody else said the same meanwhile.');
  }
}
