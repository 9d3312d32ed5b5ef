/** Whether a comment holds a command somewhere: only then is it worth a look. */
export function mayCommand(body: string): boolean {
  return /\/(sluice|trunk)\b/i.test(body);
}
