/** A cheap filter: only a comment that passes it is read and parsed. */
export function mayCommand(body: string): boolean {
  return /\/(sluice|trunk)\b/i.test(body);
}
