/** The name of a check. With `app`, only reports of that app count; it is a slug or a numeric id. */
export type RequiredStatus = string | { readonly name: string; readonly app: string };

export function nameOf(status: RequiredStatus): string {
  return typeof status === 'string' ? status : status.name;
}
