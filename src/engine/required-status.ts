/** A check by its name; with `app`, the slug or the number of the only app whose word about it counts. */
export type RequiredStatus = string | { readonly name: string; readonly app: string };

export function nameOf(status: RequiredStatus): string {
  return typeof status === 'string' ? status : status.name;
}
