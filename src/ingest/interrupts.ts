/** Another writer was faster: what is in memory of the repository is to be read again. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/** The loop stops, or everything stored is about to be replaced: what is under way goes on later, from where it was stored. */
export class Interrupted extends Error {
  override readonly name: string = 'Interrupted';
}

/** Another server ended the upload, or got further with it: its lease was another's for a while. */
export class Overtaken extends Error {
  override readonly name = 'Overtaken';
}

/** Others wait, and too many uploads pause already: it begins again, behind what is stored of it, when there is a place. */
export class PutBack extends Interrupted {
  override readonly name: string = 'PutBack';
}
